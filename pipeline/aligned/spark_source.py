"""Spark's interface to the aligned source: a Python streaming data source whose batches are planned by their horizon.

    in the planner's process   latestOffset ─▶ where the batch ends │ partitions ─▶ a range for each Kafka partition
    in the Python workers      read ─▶ Arrow batches of the range's records

Offsets stand in the checkpoint as Spark's Kafka source writes them, `{"topic": {"0": 6000}}`, so whatever reads or
writes a checkpoint need not know which of the two made it, and a job may change from one to the other. The columns are
the same too, and `horizon` beside them: the latest event time that was read before this batch, null before the first.
It is that of all records from where the job began to the batch's beginning, so a batch that is run again has it once
more. Where retention has deleted some of these, what the checkpoint says of them counts. The timestamp of a record that
has no time is null.

Without a `slice` it shares a batch among partitions as Spark's Kafka source does, and has no horizon: for topics with a
timestamp that that one cannot read.
"""

import functools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from kafka.consumer.fetcher import ConsumerRecord
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pipeline.aligned.horizon import BatchPlan, Front, GrowingSlice, Offsets, plan_batch, share_offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.kafka_times import Around, KafkaTimes
from pipeline.aligned.latest_times import LatestTimes
from pipeline.aligned.plan_status import StatusWatch, write_status
from pipeline.config.pipeline_config import Kafka
from pipeline.errors import PipelineError, PositionGoneError
from pipeline.kafka.cluster import BrokersAt, brokers_of
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.records.record import SourcePartition


@dataclass
class SilenceWatch:
    """Which partitions have been silent for `idle_after_s`, so that they hold the others back no longer.

    Silence is counted by this process's clock from when a partition's end was first seen where it is. Every start gives
    each partition the whole time once more.
    """

    idle_after_s: float
    _seen: dict[SourcePartition, tuple[int, float]] = field(default_factory=dict)

    def look(
        self, ends: Offsets, now_s: float, without_event: Collection[SourcePartition] = ()
    ) -> frozenset[SourcePartition]:
        """The partitions that are idle at `now_s`, where each ends at `ends`. Those `without_event` have none that
        waits: what moved their end is an aborted transaction or a marker, which ends no silence.
        """
        for partition, end in ends.items():
            seen = self._seen.get(partition)
            if seen is None or (seen[0] != end and partition not in without_event):
                self._seen[partition] = end, now_s
        return frozenset(partition for partition in ends if now_s - self._seen[partition][1] >= self.idle_after_s)

    def silent_s(self, partition: SourcePartition, now_s: float) -> float:
        """For how long a partition has been silent at `now_s`; 0 for one that was never looked at."""
        return now_s - self._seen[partition][1] if partition in self._seen else 0.0


FORMAT = "aligned-kafka"
SCHEMA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField(
            "headers", ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
        ),
        StructField("horizon", TimestampType()),
    ]
)
_PLANNING_BYTES = 256 * 1024
_READING_BYTES = 1024 * 1024
# As what the workers hand on: small enough to flow, large enough that its fixed cost does not count.
_BATCH_BYTES = 4 * 1024 * 1024
_BATCH_ROWS = 500
# Of a look at a record only the time is wanted, and for a batch no more are looked at than it may have.
_MAX_SCANNED = 100_000
_MOST_US = 2**63 - 1

ByTopic = dict[str, dict[str, int]]


class AlignedOptions(BaseModel):
    """What the source is given, as one option `settings` in JSON. `initial` is where the first batch begins, by topic
    and partition; None for a query whose checkpoint has a batch and does not say. `reached_ms` is the latest event time
    that the query is known to have read in an earlier process, None where nothing is. Into `status_file` goes what is
    known of each plan; None where no one asks. `slice_ms` None shares batches by the number of records that wait.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    bootstrap_servers: str
    kafka: Kafka = Kafka()
    topics: tuple[str, ...]
    slice_ms: PositiveInt | None
    idle_after_ms: NonNegativeInt
    max_offsets: PositiveInt
    initial: ByTopic | None = None
    reached_ms: int | None = None
    status_file: Path | None = None

    @property
    def brokers(self) -> BrokersAt:
        """As the clients reach them."""
        return brokers_of(self.bootstrap_servers, self.kafka)


@dataclass
class OffsetRange(InputPartition):
    """The range of a partition that one task reads, and the horizon with which its batch begins."""

    topic: str
    partition: int
    first: int
    end: int
    horizon_ms: int | None


class AlignedSource(DataSource):
    """`spark.readStream.format(FORMAT)`, after `spark.dataSource.register(AlignedSource)`."""

    @classmethod
    def name(cls) -> str:
        """The name by which Spark knows the source."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns of Spark's Kafka source, and `horizon`."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> "AlignedReader":  # noqa: ARG002, N802 — Spark's own names
        """Called in the planner's process, and for each task."""
        return AlignedReader(AlignedOptions.model_validate_json(self.options["settings"]))


class AlignedReader(DataSourceStreamReader):
    """Plans and reads. Its methods raise PipelineError, which Spark makes the end of the query."""

    def __init__(self, options: AlignedOptions) -> None:
        self._options = options

    @functools.cached_property
    def _planner(self) -> "Planner":
        return Planner(self._options)

    def initialOffset(self) -> ByTopic:  # noqa: N802
        """The beginning of the first batch; the driver has written it into the checkpoint before the query starts."""
        if self._options.initial is None:
            raise PipelineError("the checkpoint does not say where the job began: sources/0/0 is missing")
        return self._options.initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Spark hands it to `latestOffset`, but for triggers that want everything."""
        return ReadMaxRows(self._options.max_offsets)

    def latestOffset(self, start: ByTopic, limit: ReadLimit) -> ByTopic:  # noqa: N802
        """The end of the batch that begins at `start`; `start` itself when there is nothing to read yet."""
        if not isinstance(limit, ReadMaxRows | ReadAllAvailable):
            raise PipelineError(f"the source knows no limit of the kind {type(limit).__name__}")
        plan = self._planner.plan(positions_of(start), limit.max_rows if isinstance(limit, ReadMaxRows) else None)
        ends = by_topic(plan.ends)
        # As it is written: to Spark another text is another offset, and a batch without a record.
        return start if ends == start or _is_nothing_new(start, ends) else ends

    def reportLatestOffset(self) -> ByTopic | None:  # noqa: N802
        """How far the topics go, for Spark's own account of the query; None before the first plan."""
        latest = self._planner.latest
        return by_topic(latest) if latest else None

    def partitions(self, start: ByTopic, end: ByTopic) -> Sequence[OffsetRange]:
        """A range for each partition that has something new; a partition that is new begins at 0."""
        starts, ends = positions_of(start), positions_of(end)
        stops = {partition: stop for partition, stop in sorted(ends.items()) if starts.get(partition, 0) < stop}
        horizon_ms = self._planner.reached_before(starts) if stops else None
        return [
            OffsetRange(*partition, starts.get(partition, 0), stop, horizon_ms) for partition, stop in stops.items()
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Runs in a Python worker, which keeps its connection to the brokers for later tasks."""
        assert isinstance(partition, OffsetRange)
        place = SourcePartition(partition.topic, partition.partition)
        log = _reading_log(self._options.bootstrap_servers, self._options.kafka.model_dump_json())
        records = (
            record for _, chunk in log.read({place: partition.first}, {place: partition.end}) for record in chunk
        )
        return arrow_batches(records, partition.horizon_ms)

    def stop(self) -> None:
        """The process ends with its connection."""


class Planner:
    """Plans one batch after the other, in one process."""

    def __init__(self, options: AlignedOptions) -> None:
        self._options = options
        log = KafkaLog(options.brokers, "enrichment-planner", fetch_bytes=_PLANNING_BYTES)
        begun = positions_of(options.initial or {})
        self._times = KafkaTimes(log, min(options.max_offsets + 1, _MAX_SCANNED), begun)
        self._latest = LatestTimes(log, begun, options.reached_ms)
        self._log = log
        self._silence = SilenceWatch(options.idle_after_ms / 1000)
        self._slice = None if options.slice_ms is None else GrowingSlice(options.slice_ms)
        self._status = StatusWatch()
        self.latest: Offsets = {}

    def plan(self, positions: Offsets, max_offsets: int | None) -> BatchPlan:
        """The batch that begins at `positions`."""
        bounds = self._log.bounds(self._options.topics)
        starts = {partition: positions.get(partition, 0) for partition in bounds}
        require_kept(positions, bounds)
        self.latest = {partition: end for partition, (_, end) in bounds.items()}
        if self._slice is None:
            return BatchPlan(share_offsets(starts, self.latest, max_offsets), None)
        now_s = time.monotonic()
        around = self._times.around(starts, bounds)
        idle = self._silence.look(
            self.latest, now_s, {partition for partition in around if around[partition].next_ms is None}
        )
        fronts = {
            partition: Front(start, bounds[partition][1], around[partition].next_ms, idle=partition in idle)
            for partition, start in starts.items()
        }
        self._times.fronts, self._times.firsts = fronts, {partition: first for partition, (first, _) in bounds.items()}
        reached = self._reached(starts, bounds, around)
        slice_ms = self._slice.next_ms(now_s)
        plan = plan_batch(fronts, reached, self._times, slice_ms=slice_ms, max_offsets=max_offsets)
        self._slice.planned(plan, now_s)
        if self._options.status_file is not None:
            silent_s = {partition: self._silence.silent_s(partition, now_s) for partition in fronts}
            read_ms = {partition: times.before_ms for partition, times in around.items()}
            status = self._status.look(plan, fronts, read_ms, reached, silent_s, now_s)
            write_status(self._options.status_file, status.model_copy(update={"slice_ms": slice_ms}))
        return plan

    def reached_before(self, positions: Offsets) -> int | None:
        """The latest event time below the positions, None when nothing is there, or no one asks."""
        if self._options.slice_ms is None:
            return None
        bounds = self._log.bounds(self._options.topics)
        require_kept(positions, bounds)
        starts = {partition: positions.get(partition, 0) for partition in bounds}
        return self._reached(starts, bounds, self._times.around(starts, bounds))

    def _reached(
        self,
        starts: Offsets,
        bounds: Mapping[SourcePartition, tuple[int, int]],
        around: Mapping[SourcePartition, Around],
    ) -> int | None:
        # 0 is that of records without a time.
        return (
            self._latest.below(starts, bounds, {partition: times.before_ms for partition, times in around.items()})
            or None
        )


def require_kept(positions: Offsets, bounds: Mapping[SourcePartition, tuple[int, int]]) -> None:
    """Raises PipelineError when the topics do not hold what is to be read next: nothing is lost in silence."""
    for partition, position in positions.items():
        if partition not in bounds:
            raise PipelineError(f"partition {partition} is not there any more", hint="the topic was made again")
        if position > bounds[partition][1]:
            raise PipelineError(
                f"{partition} ends at {bounds[partition][1]}, and was read to {position}",
                hint="the topic was made again",
            )
    for partition, (first, end) in bounds.items():
        position = positions.get(partition, 0)
        if position < first and position < end:
            raise PositionGoneError(
                f"{partition} begins at {first}, and is to be read from {position}: {first - position} events are lost"
            )


def positions_of(offsets: ByTopic) -> Offsets:
    """Positions from offsets in the form of a checkpoint."""
    return {
        SourcePartition(topic, int(number)): offset
        for topic, partitions in offsets.items()
        for number, offset in partitions.items()
    }


def by_topic(positions: Offsets) -> ByTopic:
    """As they stand in a checkpoint, always in one order: Spark compares texts."""
    offsets_of: ByTopic = {}
    for (topic, number), offset in sorted(positions.items()):
        offsets_of.setdefault(topic, {})[str(number)] = offset
    return offsets_of


def _is_nothing_new(start: ByTopic, ends: ByTopic) -> bool:
    """Whether no partition has moved; one that has no offset to be read makes no batch by being there."""
    starts = positions_of(start)
    return all(starts.get(partition, 0) == end for partition, end in positions_of(ends).items())


@functools.cache
def _reading_log(bootstrap: str, kafka_json: str) -> KafkaLog:
    return KafkaLog(
        brokers_of(bootstrap, Kafka.model_validate_json(kafka_json)), "enrichment-source", fetch_bytes=_READING_BYTES
    )


def arrow_batches(records: Iterator[ConsumerRecord], horizon_ms: int | None) -> Iterator[pa.RecordBatch]:
    """Records as Spark takes them, a few megabytes at a time."""
    pending: list[ConsumerRecord] = []
    size = 0
    for record in records:
        pending.append(record)
        size += len(record.value or b"") + len(record.key or b"")
        if size >= _BATCH_BYTES or len(pending) >= _BATCH_ROWS:
            yield _to_arrow(pending, horizon_ms)
            pending, size = [], 0
    if pending:
        yield _to_arrow(pending, horizon_ms)


@functools.cache
def _arrow_schema() -> pa.Schema:
    return to_arrow_schema(SCHEMA, timezone="UTC")


def _to_arrow(records: list[ConsumerRecord], horizon_ms: int | None) -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [record.key for record in records],
        [record.value for record in records],
        [record.topic for record in records],
        [record.partition for record in records],
        [record.offset for record in records],
        [_timestamp(record) for record in records],
        [[{"key": name, "value": value} for name, value in record.headers] or None for record in records],
        [None if horizon_ms is None else _microseconds(horizon_ms)] * len(records),
    ]
    schema = _arrow_schema()
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _timestamp(record: ConsumerRecord) -> int | None:
    time_ms = record_time_ms(record.timestamp)
    return None if time_ms is None else _microseconds(time_ms)


def _microseconds(time_ms: int) -> int:
    """As near as Spark can write it down: the watermark of an earlier version may be of any time."""
    return max(-_MOST_US, min(_MOST_US, time_ms * 1000))
