"""The latest event time of all that a job has read, in whatever order the times are: what Spark's watermark has seen.

    looked at before ───────┤■■■■■■■■■■■■■■■■■■■■■■├─ position
                            read since      └ of these the times are known

Kafka's index of times names the first record of a partition that is later than the latest known. Mostly that is not
among what was read since the last look, and one question for all partitions is enough. The index may also name what the
job never gets: the end of a transaction, an event of one that was aborted, a record from before the job began. Of what
lies behind it the index then says nothing, and it is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.aligned.horizon import Offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.kafka_times import event_time
from pipeline.records.record import SourcePartition

_AT_ONCE = 1000
"""Offsets of a partition that are read before the index is asked again: often nothing is later than these."""
_FIRST_LOOK = 100_000
"""Offsets of a partition that are read at most for the first look: only where the index says nothing are there more."""
_MOST_MS = 2**63 - 1


@dataclass
class LatestTimes:
    """`begun` is where the job began, in partitions that it does not name at 0. `reached_ms` is the latest time that
    the job is known to have read before this process, None where nothing is known: the topics may not hold it any more.
    """

    log: KafkaLog
    begun: Offsets
    reached_ms: int | None = None
    _latest_ms: int | None = None
    _looked: dict[SourcePartition, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._latest_ms = self.reached_ms

    def below(
        self,
        positions: Offsets,
        bounds: Mapping[SourcePartition, tuple[int, int]],
        before_ms: Mapping[SourcePartition, int | None],
    ) -> int | None:
        """The latest time below the positions, None where nothing is. `before_ms` are times that were found there
        already, by partition. Raises PipelineError.
        """
        if any(position < self._looked.get(partition, 0) for partition, position in positions.items()):
            self._looked, self._latest_ms = {}, self.reached_ms
        known_ms = [self._latest_ms, *(before_ms.get(partition) for partition in positions)]
        latest = max((time_ms for time_ms in known_ms if time_ms is not None), default=None)
        starts: dict[SourcePartition, int] = {}
        remaining: dict[SourcePartition, int] = {}
        for place, position in positions.items():
            begun = self._looked.get(place, min(self.begun.get(place, 0), position))
            starts[place] = max(begun, bounds[place][0])
            remaining[place] = position - starts[place] if place in self._looked else _FIRST_LOOK
        while unknown := {
            partition: start
            for partition, start in starts.items()
            if start < positions[partition] and remaining[partition] > 0
        }:
            later = self._later(unknown, positions, latest)
            stops = {partition: min(positions[partition], start + _AT_ONCE) for partition, start in later.items()}
            for partition, records in self.log.read(later, stops):
                times = [event_time(partition, record) for record in records]
                latest = max(times) if latest is None else max(latest, *times)
            remaining |= {
                partition: remaining[partition] - (stop - later[partition]) for partition, stop in stops.items()
            }
            starts = stops
        self._looked |= positions
        self._latest_ms = latest
        return latest

    def _later(self, starts: Offsets, stops: Offsets, latest: int | None) -> dict[SourcePartition, int]:
        """The offsets from which a later time is possible, for the partitions where one is."""
        if latest is not None and latest >= _MOST_MS:
            return {}
        records = self.log.first_at(dict.fromkeys(starts, 0 if latest is None else latest + 1))
        firsts = {partition: record.offset for partition in starts if (record := records.get(partition)) is not None}
        return {
            partition: max(starts[partition], offset)
            for partition, offset in firsts.items()
            if offset < stops[partition]
        }
