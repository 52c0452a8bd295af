"""Topics in memory, as `KafkaLog` gives them: with Kafka's own index of times, which knows nothing of positions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kafka.structs import OffsetAndTimestamp

from pipeline.aligned.horizon import Offsets
from pipeline.aligned.kafka_log import Enough
from pipeline.records.record import SourcePartition


class Record(NamedTuple):
    """The part of a record that planning looks at."""

    offset: int
    timestamp: int
    timestamp_type: int = 0


ODD = (-(2**63), -5, 0, 1_767_225_600_000_000_000, 2**63 - 1)
"""Timestamps that are no time."""


def as_event_times(times: list[int | None]) -> list[int | None]:
    """With 0 for a record without a time."""
    return [0 if time in ODD else time for time in times]


@dataclass
class RecordsInMemory:
    """`times` are timestamps by offset; None is an offset without a record. Some of these are `markers`, of which the
    index knows the time. `handed_over` counts records, and `asked` questions to the index.
    """

    times: dict[SourcePartition, list[int | None]]
    kinds: Mapping[SourcePartition, int] = field(default_factory=dict)
    firsts: Mapping[SourcePartition, int] = field(default_factory=dict)
    markers: Mapping[SourcePartition, Mapping[int, int]] = field(default_factory=dict)
    handed_over: int = 0
    asked: int = 0

    def bounds(self, _topics: Any = ()) -> Mapping[SourcePartition, tuple[int, int]]:
        return {one: (self.firsts.get(one, 0), len(times)) for one, times in self.times.items()}

    def first_at(self, at_ms: Mapping[SourcePartition, int]) -> Mapping[SourcePartition, OffsetAndTimestamp | None]:
        self.asked += 1
        found: dict[SourcePartition, OffsetAndTimestamp | None] = {}
        for one, ms in at_ms.items():
            markers, begin = self.markers.get(one, {}), self.firsts.get(one, 0)
            times = ((at, markers.get(at, time)) for at, time in enumerate(self.times[one]) if at >= begin)
            later = (OffsetAndTimestamp(at, time, -1) for at, time in times if time is not None and time >= ms)
            found[one] = next(later, None)
        return found

    def read(
        self, starts: Offsets, stops: Offsets, *, enough: Enough | None = None
    ) -> Iterator[tuple[SourcePartition, list[Any]]]:
        for one, stop in stops.items():
            assert starts[one] >= self.firsts.get(one, 0), "Kafka does not have it any more"
            records: list[Any] = []
            for offset in range(starts[one], stop):
                time = self.times[one][offset]
                if time is None:
                    continue
                records.append(Record(offset, time, self.kinds.get(one, 0)))
                if enough is not None and enough(one, records[-1]):
                    break
            self.handed_over += len(records)
            if records:
                yield one, records
