"""The event times that planning asks for, from Kafka: its index of times, and records where that does not say.

What is at an offset never changes, so what was read once is kept for as long as the partition stands there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka.consumer.fetcher import ConsumerRecord

from pipeline.aligned.horizon import Front, Offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.errors import PipelineError
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.records.record import SourcePartition

_BEFORE = 20
"""Records before an offset whose latest time says where the partition is: neighbours are seldom in perfect order."""
_LOG_APPEND_TIME = 1


@dataclass(frozen=True, slots=True)
class Around:
    """The latest time just before an offset, and that of the first record from there on; None where there is none."""

    before_ms: int | None
    next_ms: int | None


@dataclass
class KafkaTimes:
    """The times of one plan after the other; `fronts` are those of the plan at work. `begun` is where the job began, in
    partitions that it does not name at 0: what lies before it was never read. Raises PipelineError.
    """

    log: KafkaLog
    max_scanned: int
    begun: Offsets = field(default_factory=dict)
    fronts: Mapping[SourcePartition, Front] = field(default_factory=dict)
    firsts: Offsets = field(default_factory=dict)
    _around: dict[SourcePartition, tuple[int, Around]] = field(default_factory=dict)
    _newest: dict[SourcePartition, tuple[int, int | None]] = field(default_factory=dict)
    _scanned: dict[SourcePartition, tuple[int, list[tuple[int, int]], int]] = field(default_factory=dict)

    def around(
        self, positions: Offsets, bounds: Mapping[SourcePartition, tuple[int, int]]
    ) -> Mapping[SourcePartition, Around]:
        """For each position, the latest event time just before it and the next event time from there to the partition's
        end.
        """
        unknown = {
            partition: position
            for partition, position in positions.items()
            if not self._knows(partition, position, bounds[partition][1])
        }
        before: dict[SourcePartition, list[int]] = {partition: [] for partition in unknown}
        following: dict[SourcePartition, int] = {}
        starts = {
            partition: max(bounds[partition][0], min(position, self.begun.get(partition, 0)), position - _BEFORE)
            for partition, position in unknown.items()
        }
        stops = {partition: bounds[partition][1] for partition in unknown}
        for partition, records in self.log.read(
            starts, stops, enough=lambda partition, record: record.offset >= unknown[partition]
        ):
            for record in records:
                time_ms = event_time(partition, record)
                if record.offset < unknown[partition]:
                    before[partition].append(time_ms)
                else:
                    following.setdefault(partition, time_ms)
        for place, position in unknown.items():
            self._around[place] = position, Around(max(before[place], default=0) or None, following.get(place))
        return {partition: self._around[partition][1] for partition in positions}

    def newest_ms(self, partition: SourcePartition) -> int | None:
        """The latest time of the partition's last records, read once for each end."""
        end = self.fronts[partition].end
        cached = self._newest.get(partition)
        if cached is None or cached[0] != end:
            start = max(self.firsts[partition], end - _BEFORE)
            read = self.log.read({partition: start}, {partition: end})
            times = [event_time(partition, record) for _, records in read for record in records]
            cached = self._newest[partition] = end, max(times, default=None)
        return cached[1]

    def ends_before(self, at_ms: int) -> Offsets:
        """Takes one request to the brokers in most cases."""
        waiting = {partition: front for partition, front in self.fronts.items() if front.next_ms is not None}
        ends: dict[SourcePartition, int] = {}
        uncertain: list[SourcePartition] = []
        for partition, front in waiting.items():
            if front.next_ms is not None and front.next_ms >= at_ms:
                ends[partition] = front.position
            else:
                uncertain.append(partition)
        records = self.log.first_at(dict.fromkeys(uncertain, at_ms)) if uncertain else {}
        for partition in uncertain:
            record, front = records.get(partition), waiting[partition]
            if record is None:
                ends[partition] = front.end
            elif record.offset > front.position and record_time_ms(record.timestamp) is not None:
                ends[partition] = min(record.offset, front.end)
            else:
                # A record that was read long ago is of that time, or one that waits has a timestamp that is no time:
                # the index says nothing of what comes after it.
                ends[partition] = self._scan(partition, front, at_ms)
        return ends

    def _scan(self, partition: SourcePartition, front: Front, at_ms: int) -> int:
        """The same from the records, of which no more are looked at than a batch may take."""
        cached = self._scanned.get(partition)
        stop = min(front.end, front.position + self.max_scanned)
        if cached is None or (cached[0], cached[2]) != (front.position, stop):
            times = [
                (record.offset, event_time(partition, record))
                for _, records in self.log.read({partition: front.position}, {partition: stop})
                for record in records
            ]
            cached = self._scanned[partition] = front.position, times, stop
        return next((offset for offset, time_ms in cached[1] if time_ms >= at_ms), cached[2])

    def _knows(self, partition: SourcePartition, position: int, end: int) -> bool:
        if partition not in self._around or self._around[partition][0] != position:
            return False
        # Where nothing waited, something may by now.
        return position >= end or self._around[partition][1].next_ms is not None


def event_time(partition: SourcePartition, record: ConsumerRecord) -> int:
    """A record's, in milliseconds since the epoch; 0 for one without a time, which waits for nothing and moves no
    horizon. Raises PipelineError for a topic whose records have none.
    """
    if record.timestamp_type == _LOG_APPEND_TIME:
        raise PipelineError(
            f"topic {partition.topic} has the broker's time of arrival (LogAppendTime), which says nothing of when an "
            "event happened",
            hint="set its message.timestamp.type to CreateTime, or source.read to proportional",
        )
    return record_time_ms(record.timestamp) or 0
