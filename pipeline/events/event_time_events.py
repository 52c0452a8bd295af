"""What a process that reads aligned says of its source's event time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeHeld:
    """A source partition that was read to its end, and is not idle yet, has kept others waiting for ten seconds. Logged
    once a minute for as long as that lasts; only with `source.read: aligned`.
    """

    event: Literal["event_time_held"] = "event_time_held"
    by: str
    """The partition that has done so for longest, as `TOPIC/PARTITION`."""
    seconds: float
    """Seconds for which it has."""
    silent_s: float
    """Seconds since the job saw a new event in it. It holds nothing back any more after `source.idle_after`."""
    read_to: str | None = None
    """Event time of its last event; omitted for one that has never had an event."""
    common: str | None = None
    """Event time that all partitions are read to, the latest of any event that was read; omitted before the first."""
    also: tuple[str, ...] = ()
    """Other partitions that hold the batch at the same event time, the first 20."""
    waiting: Mapping[str, float]
    """Seconds of event time by which the next event of each partition that waits lies ahead of `common`, of the 20 that
    are furthest.
    """
    idle: tuple[str, ...] = ()
    """Partitions that are taken as idle, the first 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeFreed:
    """No partition holds others back any more. Logged only after `event_time_held`."""

    event: Literal["event_time_freed"] = "event_time_freed"
    seconds: float
    """Seconds for which the longest of them held others back, as far as observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsIdle:
    """The set of idle source partitions has changed. Idle partitions hold nothing back, and their next events may be
    late. Logged at most every ten minutes; only with `source.read: aligned`.
    """

    event: Literal["partitions_idle"] = "partitions_idle"
    partitions: tuple[str, ...]
    """Those that are idle now, as `TOPIC/PARTITION`, the first 20; empty when none is."""
    number: int
    """How many they are."""
    of: int
    """Number of partitions of all source topics."""
