"""What a process says of its micro-batches."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pipeline.events.outage_events import Grain


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStarted:
    """A micro-batch begins."""

    event: Literal["batch_started"] = "batch_started"
    batch: int
    """Number of the batch in the checkpoint, from 0."""
    reserved: int = 0
    """Number of deferred events in the batch, in addition to the source's."""
    began_ms: int | None = None
    """Milliseconds since the epoch, by the driver's clock: no record of this attempt is older."""
    slice_s: float | None = None
    """Seconds of event time that the batch could span; only with `source.read: aligned`, omitted for a batch that is
    run again.
    """
    ended_by: str | None = None
    """What ended it there: `end` of the topics, `slice`, `max_offsets`, or a `partition` that holds the others back.
    Omitted where `slice_s` is.
    """


class OffsetsRead(NamedTuple):
    """A range of a partition of a source topic, up to and without `end`; in a line a list of the four."""

    topic: str
    partition: int
    first: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRetried:
    """Spark lost an executor and has run a task again: records that earlier attempts emitted were emitted again."""

    event: Literal["task_retried"] = "task_retried"
    batch: int | None = None
    """Number of the batch whose task it was; null for a round of the slow lane."""
    attempts: int
    """Number of attempts before the one that ended."""
    read: tuple[OffsetsRead, ...]
    """Source offsets that the task has read, as ranges `[TOPIC, PARTITION, FIRST, END]`; `END` is behind the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWritten:
    """The records of a micro-batch are emitted."""

    event: Literal["batch_written"] = "batch_written"
    batch: int
    """Number of the batch in the checkpoint, from 0."""
    seconds: float | None = None
    """Seconds since the batch started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCommitted:
    """A micro-batch is committed. Spark reports it late, after the next batch has run."""

    event: Literal["batch_committed"] = "batch_committed"
    batch: int
    """Number of the batch in the checkpoint, from 0."""
    rows: int
    """Number of source rows in the batch."""
    durations_ms: Mapping[str, int]
    """Milliseconds of each step, by Spark's name for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCommitted:
    """The job's state after a micro-batch. Spark reports it with `batch_committed`."""

    event: Literal["state_committed"] = "state_committed"
    batch: int
    """Number of the batch in the checkpoint, from 0."""
    operator: str
    """Spark's name for what keeps the state, as `dedupeWithinWatermark`."""
    rows: int
    """Number of rows in the state."""
    bytes: int
    """Bytes of memory that the state stores take, by their own account."""
    commit_ms: int
    """Milliseconds that the partitions' writes of the state took, added up."""
    duplicates: int
    """Number of source rows that were dropped as repeats."""
    late_dropped: int
    """Number of source rows that Spark dropped as they were behind the watermark: those are lost."""
    watermark: str | None = None
    """Event time behind which rows of this batch were late; omitted by a job without a watermark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSlow:
    """Spark has been writing to the checkpoint for longer than `commit.slow_after`. Logged once until the writes are
    done.
    """

    event: Literal["commit_slow"] = "commit_slow"
    batch: int | None = None
    """Number of the batch that was emitted last, whose commit is written, or the offsets of the next one; null before
    the first.
    """
    seconds: float
    """Seconds for which Spark has been writing so far."""
    place: str
    """Path or URL of the checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The main lane waits before a batch: for the endpoint, for unhealthy wikis, or as too many events are deferred."""

    event: Literal["waiting"] = "waiting"
    batch: int | None = None
    """Number of the batch that waits, from 0."""
    reason: str
    """Why it waits, in words."""
    grain: Grain | None = None
    """Whose open breaker it waits for: the endpoint's, or those of wikis; null for room."""
    wikis: tuple[str, ...] | None = None
    """Unhealthy wikis that it waits for, the first 20 by name."""
    entries: int | None = None
    """Number of deferred events, where they are too many: those of the unhealthy wikis, or all."""
    bytes: int | None = None
    """Bytes that the deferred events take, where they are too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The wait is over."""

    event: Literal["resumed"] = "resumed"
    batch: int | None = None
    """Number of the batch that waited, from 0."""
