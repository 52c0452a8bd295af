"""Whether the events of a page were emitted in source order, by first occurrence in output and error together.

    place A ≺ place B    same topic and partition: by offset
                         else: A was appended more than a second before B, by the broker's clock

Two topics have only those times in common. Records of one write go to both at once, and which lands first is a race of
milliseconds. So only a plain violation counts between topics: an error event seconds behind a later event's output.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from devkit.observe.audit.arrivals import Arrival, Position

_RACE_MS = 1000


@dataclass(frozen=True, slots=True)
class Landing:
    """Where and when a record landed."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int

    @classmethod
    def of(cls, arrival: Arrival) -> "Landing":
        """The record's own place, not the source position that its headers name."""
        return cls(arrival.topic, arrival.partition, arrival.offset, arrival.timestamp_ms)


@dataclass(frozen=True, slots=True)
class LateEvent:
    """An event that was emitted at `landing` although `overtaken_by`, which comes after it, already was."""

    position: Position
    landing: Landing
    overtaken_by: Position


def precedes(first: Landing, second: Landing) -> bool:
    """Whether `first` was certainly emitted before `second`."""
    if (first.topic, first.partition) == (second.topic, second.partition):
        return first.offset < second.offset
    return first.timestamp_ms + _RACE_MS < second.timestamp_ms


def earlier(first: Landing | None, second: Landing | None) -> Landing | None:
    """The landing that was appended earlier; `first` where both have the same time."""
    if first is None or second is None:
        return first or second
    return second if second.timestamp_ms < first.timestamp_ms else first


def late_events(first: Mapping[Position, Landing]) -> Iterator[LateEvent]:
    """The late ones among the events of one page, given where each was emitted first; in source order."""
    late: list[LateEvent] = []
    # Of all events behind the present one, in each topic and partition: the lowest offset, and the earliest time,
    # which need not be the same record's where producers set the time.
    lowest: dict[tuple[str, int], tuple[Landing, Position]] = {}
    earliest: dict[tuple[str, int], tuple[Landing, Position]] = {}
    for position, landing in sorted(first.items(), reverse=True):
        leaders = chain(lowest.values(), earliest.values())
        overtaking = next((by for leader, by in leaders if precedes(leader, landing)), None)
        if overtaking is not None:
            late.append(LateEvent(position, landing, overtaking))
        place = landing.topic, landing.partition
        if place not in lowest or landing.offset < lowest[place][0].offset:
            lowest[place] = landing, position
        if place not in earliest or landing.timestamp_ms < earliest[place][0].timestamp_ms:
            earliest[place] = landing, position
    yield from reversed(late)
