"""How far a program's commits are ahead of the events that it has still to read, in event time.

    newest committed event ──────── skew ────────> oldest event that is not committed

A program that reads streams or partitions at different speeds moves its watermark ahead of the slow ones, whose events
are then late. There is no skew where all events are read in the order of event time.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from devkit.observe.audit.arrivals import Position
from devkit.observe.checkpoint import Offsets, SourcePartition

Landed = Callable[[int], Iterable[tuple[Position, int | None]]]
"""From a number on: where each record of the traffic landed, in the order of each partition's offsets, and its own time
in milliseconds since the epoch, None where it has none.
"""


@dataclass
class _Partition:
    offsets: list[int] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)


class EventTimeSkew:
    """Of the traffic of an arm, which goes on being published."""

    def __init__(self, landed: Landed) -> None:
        self._landed, self._seen = landed, 0
        self._partitions: dict[SourcePartition, _Partition] = {}

    def seconds(self, committed: Offsets) -> float | None:
        """At least 0; None where nothing is committed, nothing is left, or records have no times."""
        self._catch_up()
        committed_ms: list[int] = []
        left_ms: list[int] = []
        for partition, records in self._partitions.items():
            end = bisect_left(records.offsets, committed.get(partition, 0))
            if end:
                committed_ms.append(max(records.times_ms[:end]))
            if end < len(records.times_ms):
                left_ms.append(min(records.times_ms[end:]))
        return max(0, max(committed_ms) - min(left_ms)) / 1000 if committed_ms and left_ms else None

    def reached(self, committed: Offsets) -> dict[str, float]:
        """The event time of the newest committed event of each stream, in seconds since the epoch: of each topic where
        there are several, else of each partition, as `TOPIC/PARTITION`. Nothing of a stream without a committed event.
        """
        self._catch_up()
        by_topic = len({topic for topic, _ in self._partitions}) > 1
        times_s: dict[str, float] = {}
        for (topic, number), records in sorted(self._partitions.items()):
            if end := bisect_left(records.offsets, committed.get((topic, number), 0)):
                name = topic if by_topic else f"{topic}/{number}"
                times_s[name] = max(times_s.get(name, 0.0), max(records.times_ms[:end]) / 1000)
        return times_s

    def _catch_up(self) -> None:
        for (topic, partition, offset), time_ms in self._landed(self._seen):
            self._seen += 1
            if time_ms is not None:
                records = self._partitions.setdefault((topic, partition), _Partition())
                records.offsets.append(offset)
                records.times_ms.append(time_ms)
