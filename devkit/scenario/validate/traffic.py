"""Checks for too large events, topics that the main program does not read, and closing canaries that are missing."""

from collections import defaultdict
from collections.abc import Iterator

from devkit.observe.arm_role import ArmName, in_role
from devkit.observe.error_types import unknown_error_type
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedScenario
from devkit.traffic.stream import Paced
from located_config.count import counted
from located_config.duration import format_duration
from located_config.near import near_miss
from located_config.place import Location
from located_config.problem import Problem
from pipeline.config.pipeline_config import PipelineConfig

_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# Key, headers and the batch around a record count towards the topic's limit as well.
_BATCH_OVERHEAD_BYTES = 256
_DECIDES = "rdf-decide"


def check_traffic(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems of `traffic`."""
    scenario = resolved.scenario
    streams = scenario.traffic.streams
    yield from _check_event_size(scenario, ("traffic",), scenario.traffic)
    for name, stream in streams.items():
        yield from _check_event_size(scenario, ("traffic", "streams", name), stream)
    yield from _check_capture_size(scenario)
    for arm, resolved_arm in resolved.arms.items():
        if resolved_arm.main.refusal:
            continue
        sources = resolved_arm.main.configured.topics.sources
        yield from _check_closing(scenario, arm, sources)
        yield from _check_window(scenario, arm, resolved_arm.main.configured.config)
        yield from _check_dump(resolved, arm, resolved_arm.main.configured.config)
        for name, stream in streams.items():
            if stream.topic not in sources:
                yield Problem(
                    ("traffic", "streams", name, "topic"),
                    f"the main program of arm {arm} does not read topic {stream.topic!r}",
                    near_miss(stream.topic, sources),
                )
        for topic in _further_topics(scenario):
            if topic not in sources:
                yield Problem(
                    ("traffic", "from"),
                    f"the main program of arm {arm} does not read topic {topic!r} of the capture",
                    f"let its source topics be {', '.join([sources[0], *_further_topics(scenario)])}",
                )


def check_wikibase_topics(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Topics of the traffic that a fixed arm does not read. That an incident arm does not may be the incident."""
    wikibase = resolved.scenario.traffic.wikibase_topics
    for arm in in_role(resolved.scenario.roles, "fixed"):
        main = resolved.arms[arm].main
        if wikibase is None or main.refusal:
            continue
        unread = sorted(set(wikibase.names).difference(main.configured.topics.sources))
        if unread:
            yield Problem(
                ("traffic", "wikibase_topics"),
                f"the main program of arm {arm} does not read topic {unread[0]!r}",
                f"let its source topics be {', '.join(wikibase.names)}",
            )


def _check_closing(scenario: Scenario, arm: ArmName, sources: tuple[str, ...]) -> Iterator[Problem]:
    """Closing canaries for other partitions than the topic has. A partition without one keeps its waiting records."""
    streams = scenario.traffic.streams
    closings_by_topic: dict[str, list[tuple[Location, int]]] = defaultdict(list)
    places: list[tuple[Location, str, Paced]] = [(("traffic",), sources[0], scenario.traffic)]
    places += [(("traffic", "streams", name), stream.topic, stream) for name, stream in streams.items()]
    for place, topic, stream in places:
        if stream.canaries is not None and stream.canaries.closing is not None:
            at = (*place, "canaries", "closing", "partitions")
            closings_by_topic[topic].append((at, stream.canaries.closing.partitions))
    partitions = scenario.for_arm(arm).kafka.topics.source.partitions
    for closings in closings_by_topic.values():
        # Streams that share a topic close its partitions together.
        place, count = max(closings, key=lambda closing: closing[1])
        if count != partitions:
            text = f"closing canaries for {counted(count, 'partition')}, and the topic has {partitions} in arm {arm}"
            yield Problem(place, text, f"write partitions: {partitions}")


def _check_window(scenario: Scenario, arm: ArmName, config: PipelineConfig | None) -> Iterator[Problem]:
    """Closing canaries within the time for which events wait in the state of `rdf-decide`: the last ones stay there."""
    traffic = scenario.traffic
    if config is None or config.job != _DECIDES or not config.updater.reorder or traffic.from_ is not None:
        return
    closing = None if traffic.canaries is None else traffic.canaries.closing
    if closing is None or closing.after <= config.updater.reorder:
        window, after = format_duration(config.updater.reorder), format_duration(2 * config.updater.reorder)
        yield Problem(
            ("traffic", "canaries"),
            f"the last events of arm {arm} wait for one that is more than updater.reorder ({window}) later",
            f"write canaries: {{ closing: {{ after: {after} }} }} and event_times: {{ published: x1 }}",
        )


def _check_dump(resolved: ResolvedScenario, arm: ArmName, config: PipelineConfig | None) -> Iterator[Problem]:
    """A dump that no program goes on from, or that no store is loaded with."""
    if resolved.scenario.traffic.dump is None:
        return
    if config is None or config.job != _DECIDES:
        text = f"the main program of arm {arm} does not go on from a dump"
        yield Problem(("traffic", "dump"), text, f"let it be `run: pipeline {_DECIDES}`, or leave dump out")
    elif not resolved.needs_triple_store:
        text = f"there is no triple store in arm {arm} that is loaded with it"
        yield Problem(("traffic", "dump"), text, "add a program `run: apply`, or leave dump out")


def _further_topics(scenario: Scenario) -> list[str]:
    """The topics of a capture after the first, which is played as the first source topic."""
    capture = scenario.traffic.from_
    return [] if capture is None else list(capture.outline.topics)[1:]


def _limit_bytes(scenario: Scenario) -> int:
    topics = [scenario.for_arm(arm).kafka.topics.source for arm in scenario.roles]
    return min(topic.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES for topic in topics)


def _check_capture_size(scenario: Scenario) -> Iterator[Problem]:
    capture, limit = scenario.traffic.from_, _limit_bytes(scenario)
    if capture is not None and capture.outline.largest_bytes + _BATCH_OVERHEAD_BYTES > limit:
        outline = capture.outline
        yield Problem(
            ("traffic", "from"),
            f"{capture.path}:{outline.largest_line}:1: its largest event of {outline.largest_bytes} bytes is more than "
            f"the source topic takes ({limit})",
            "raise kafka.topics.source.max.message.bytes",
        )


def _check_event_size(scenario: Scenario, place: Location, stream: Paced) -> Iterator[Problem]:
    limit = _limit_bytes(scenario)
    for title, named in stream.pages.items():
        if named.event_bytes is not None and named.event_bytes + _BATCH_OVERHEAD_BYTES > limit:
            yield Problem(
                (*place, "pages", title, "event_bytes"),
                f"an event of {named.event_bytes} bytes is more than the source topic takes ({limit})",
                "raise kafka.topics.source.max.message.bytes",
            )


def check_error_types(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Error types of pages and patches that the pipeline does not have; other programs may have any."""
    if not resolved.main.runs_on_spark:
        return
    traffic = resolved.scenario.traffic
    stated: list[tuple[Location, str]] = []
    for place, page in traffic.pages_at():
        if isinstance(page.error, str):
            stated.append(((*place, "error"), page.error))
        elif page.error is not None:
            stated += [((*place, "error", arm), error) for arm, error in page.error.items()]
    for place, patches in traffic.patches_at():
        for number, patch in enumerate(patches):
            if isinstance(patch.error, str):
                stated.append(((*place, number, "error"), patch.error))
            elif patch.error is not None:
                stated += [((*place, number, "error", arm), error) for arm, error in patch.error.items()]
    for place, error in stated:
        if wrong := unknown_error_type(error):
            yield Problem(place, wrong)
