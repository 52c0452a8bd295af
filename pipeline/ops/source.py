"""The source topic as an operator asks it: where its partitions begin and end, what was when, and the records.

Every question names the broker and the topic when it fails, and none waits for ever.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from pipeline.aligned.record_ranges import SilentError, read_ranges
from pipeline.errors import PipelineError, RefusedError
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.errors import broker_failure
from pipeline.kafka.partition_offsets import end_offsets, first_offsets, offsets_at
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.ops.broker import CLIENT_ID, CONNECT_MS, connecting
from pipeline.ops.spark_checkpoint import Offsets
from pipeline.records.record import Headers

OF_SOURCE = "`source` in the job's file"
OF_SINK = "`sink` in the job's file"
SourceHeaders = tuple[tuple[str, bytes | None], ...]

_ANSWER_S = 30.0
_FETCH_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record as it stands in a topic; `timestamp_ms` is its own, or the broker's, as the topic is set. A header's
    value may be null, which is another thing than empty.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: SourceHeaders

    @property
    def own_headers(self) -> Headers:
        """Headers of a record that a job has written. A job writes no null header, so a null counts as empty."""
        return tuple((name, value or b"") for name, value in self.headers)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The offsets that each partition holds: from `first`, up to and without `end`."""

    first: Offsets
    end: Offsets


class SourceTopic:
    """One topic. Its methods raise PipelineError when the broker does not answer."""

    def __init__(
        self,
        consumer: KafkaConsumer,
        bootstrap: BrokersAt,
        topic: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        named_by: str = OF_SOURCE,
    ) -> None:
        self.topic = topic
        self._named_by = named_by
        self._consumer = consumer
        self._bootstrap = bootstrap
        self._clock = clock

    def bounds(self) -> Bounds:
        """Raises RefusedError when there is no such topic."""
        with self._answers():
            places = self._places()
            first = first_offsets(self._consumer, places, timeout_s=_ANSWER_S)
            end = end_offsets(self._consumer, places, timeout_s=_ANSWER_S)
        return Bounds(
            {place.partition: first[place] for place in places}, {place.partition: end[place] for place in places}
        )

    def at(self, timestamp_ms: int, bounds: Bounds) -> Offsets:
        """The first offset of each partition whose record is of that time or later; its end where none is. Kafka may
        name a record whose timestamp is no time: then those behind it are read.
        """
        if timestamp_ms <= 0:
            return bounds.first  # of records without a time, or of one before 1970, Kafka tells nothing
        with self._answers():
            times = {TopicPartition(self.topic, partition): timestamp_ms for partition in bounds.end}
            records = offsets_at(self._consumer, times, timeout_s=_ANSWER_S)
        offsets = {}
        for place, first in records.items():
            end = bounds.end[place.partition]
            if first is None:
                offsets[place.partition] = end
            elif record_time_ms(first.timestamp) is not None:
                offsets[place.partition] = first.offset
            else:
                behind = self.records({place.partition: first.offset}, {place.partition: end})
                offsets_of_time = (
                    record.offset for record in behind if (record_time_ms(record.timestamp_ms) or 0) >= timestamp_ms
                )
                offsets[place.partition] = next(offsets_of_time, end)
        return offsets

    def records(self, first: Offsets, end: Offsets) -> Iterator[SourceRecord]:
        """All records from `first` up to and without `end`, each partition in its order."""
        ranges = {
            TopicPartition(self.topic, partition): (first.get(partition, stop), stop) for partition, stop in end.items()
        }
        try:
            with self._answers():
                for place, records in read_ranges(self._consumer, ranges, clock=self._clock, answer_s=_ANSWER_S):
                    for record in records:
                        headers = tuple(record.headers)
                        yield SourceRecord(
                            place.partition, record.offset, record.timestamp, record.key, record.value, headers
                        )
        except SilentError:
            raise PipelineError(f"topic {self.topic} at {self._bootstrap}: no record for {_ANSWER_S:g} s") from None

    def first_record(self, partition: int, offset: int, end: int) -> SourceRecord | None:
        """The first record of a partition at `offset` or behind it; None when there is none below `end`."""
        return next(self.records({partition: offset}, {partition: end}), None)

    def _places(self) -> list[TopicPartition]:
        numbers = self._consumer.partitions_for_topic(self.topic)
        if not numbers:
            raise RefusedError(f"there is no topic {self.topic} at {self._bootstrap}", hint=f"look at {self._named_by}")
        return [TopicPartition(self.topic, number) for number in sorted(numbers)]

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except (KafkaError, OSError) as error:
            raise broker_failure(f"topic {self.topic} at {self._bootstrap} cannot be read", error) from error


@contextmanager
def opened_topic(
    bootstrap: BrokersAt,
    topic: str,
    *,
    named_by: str = OF_SOURCE,
    fetch_bytes: int = _FETCH_BYTES,
    uncommitted: bool = False,
) -> Iterator[SourceTopic]:
    """`named_by` is who named the topic, for messages; at most `fetch_bytes` come at once, or one record. It ends at
    the first transaction that is open, or `uncommitted` behind all of them. Raises PipelineError when no broker
    answers.
    """
    with connecting(bootstrap):
        consumer = connected(
            KafkaConsumer,
            bootstrap,
            {
                "client_id": CLIENT_ID,
                "enable_auto_commit": False,
                "auto_offset_reset": "none",
                "isolation_level": "read_uncommitted" if uncommitted else "read_committed",
                "allow_auto_create_topics": False,
                "bootstrap_timeout_ms": CONNECT_MS,
                "max_partition_fetch_bytes": fetch_bytes,
                "fetch_max_bytes": fetch_bytes,
            },
        )
    try:
        yield SourceTopic(consumer, bootstrap, topic, named_by=named_by)
    finally:
        consumer.close()


def total(first: Offsets, end: Offsets) -> int:
    """How many offsets lie between, over all partitions of `end`."""
    return sum(max(0, stop - first.get(partition, 0)) for partition, stop in end.items())


def shown(offsets: Iterable[tuple[int, int]]) -> str:
    """`partition:offset`, by commas: the form that `--from` and `--to` take."""
    return ", ".join(f"{partition}:{offset}" for partition, offset in offsets)
