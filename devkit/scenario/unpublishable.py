"""Events that no topic takes, and streams of events that the main program does not read."""

from collections.abc import Iterator

from pydantic import ValidationError

from devkit.programs.places import NOWHERE
from devkit.scenario.configure import configured
from devkit.scenario.model import Scenario
from devkit.traffic.stream import Paced
from located_config.near import near_miss
from located_config.place import Location
from located_config.problem import Problem

_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# Key, headers and the batch around a record count towards the topic's limit as well.
_BATCH_OVERHEAD_BYTES = 256


def unpublishable(scenario: Scenario) -> Iterator[Problem]:
    """Where in the file, and what is wrong there."""
    streams = scenario.traffic.streams
    yield from _too_large(scenario, ("traffic",), scenario.traffic)
    for name, stream in streams.items():
        yield from _too_large(scenario, ("traffic", "streams", name), stream)
    yield from _captured_too_large(scenario)
    for arm in scenario.roles:
        try:
            sources = configured(scenario, arm, NOWHERE).topics.sources
        except ValidationError:
            continue  # which is told by itself
        for name, stream in streams.items():
            if stream.topic not in sources:
                yield Problem(
                    ("traffic", "streams", name, "topic"),
                    f"the main program of arm {arm} does not read topic {stream.topic!r}",
                    near_miss(stream.topic, sources),
                )
        for topic in _captured_besides(scenario):
            if topic not in sources:
                yield Problem(
                    ("traffic", "from"),
                    f"the main program of arm {arm} does not read topic {topic!r} of the capture",
                    f"let its source topics be {', '.join([sources[0], *_captured_besides(scenario)])}",
                )


def _captured_besides(scenario: Scenario) -> list[str]:
    """The topics of a capture besides its first one, which is played as the first source topic."""
    capture = scenario.traffic.from_
    return [] if capture is None else list(capture.outline.topics)[1:]


def _limit_bytes(scenario: Scenario) -> int:
    topics = [scenario.for_arm(arm).kafka.topics.source for arm in scenario.roles]
    return min(topic.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES for topic in topics)


def _captured_too_large(scenario: Scenario) -> Iterator[Problem]:
    capture, limit = scenario.traffic.from_, _limit_bytes(scenario)
    largest = max(capture.outline.largest.values(), default=0) if capture is not None else 0
    if largest + _BATCH_OVERHEAD_BYTES > limit:
        yield Problem(
            ("traffic", "from"),
            f"its largest event of {largest} bytes is more than the source topic takes ({limit})",
            "raise kafka.topics.source.max.message.bytes",
        )


def _too_large(scenario: Scenario, place: Location, stream: Paced) -> Iterator[Problem]:
    limit = _limit_bytes(scenario)
    for title, named in stream.pages.items():
        if named.event_bytes is not None and named.event_bytes + _BATCH_OVERHEAD_BYTES > limit:
            yield Problem(
                (*place, "pages", title, "event_bytes"),
                f"an event of {named.event_bytes} bytes is more than the source topic takes ({limit})",
                "raise kafka.topics.source.max.message.bytes",
            )
