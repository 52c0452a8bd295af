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


def _too_large(scenario: Scenario, place: Location, stream: Paced) -> Iterator[Problem]:
    topics = [scenario.for_arm(arm).kafka.topics.source for arm in scenario.roles]
    limit = min(topic.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES for topic in topics)
    for title, named in stream.pages.items():
        if named.event_bytes is not None and named.event_bytes + _BATCH_OVERHEAD_BYTES > limit:
            yield Problem(
                (*place, "pages", title, "event_bytes"),
                f"an event of {named.event_bytes} bytes is more than the source topic takes ({limit})",
                "raise kafka.topics.source.max.message.bytes",
            )
