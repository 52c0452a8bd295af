"""Which attempt of a task a worker runs, and by which ones a batch has ended.

Spark runs a task again when it loses an executor, whatever `spark.task.maxFailures` says, and counts what tasks
accumulate only for the attempt that ended first. The other may live on, and write; and what it wrote before it was lost
is there. So the attempt that ends says of which events that is true: of all that it has read, as it cannot know how far
the others came.

(A stage never runs again, in which a task is no later attempt: `spark.stage.maxConsecutiveAttempts` is 1.)
"""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.events import OffsetsRead, TaskRetried

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator

    from pipeline.worker.arrow import ArrowFunction


@dataclass(frozen=True, slots=True)
class EndedTask:
    """An attempt that has ended: its number, which no other of this Spark has, and how many were begun `before` it of
    the same task; where there are some, what it has `read`. `deferred` is how many records it has made for the ledger.
    """

    attempt: int
    before: int = 0
    read: tuple[OffsetsRead, ...] = ()
    deferred: int = 0


def task_attempt() -> int:
    """The number of the attempt that this worker runs, which no other of this Spark has; -1 outside of a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else context.taskAttemptId()


def reporting_attempts(
    function: "ArrowFunction", ended: "Accumulator[list[EndedTask]]", *, ledger: str | None = None
) -> "ArrowFunction":
    """The same function for `mapInArrow`; each of its tasks adds its attempt to `ended`, at its end. `ledger` is the
    topic of what it defers.
    """
    return functools.partial(_report, function, ended, ledger)


def retried(ended: Iterable[EndedTask], batch: int | None) -> Iterator[TaskRetried]:
    """An event for each task that did not end with its first attempt; without a `batch`, for those of a slow round."""
    for task in ended:
        if task.before:
            yield TaskRetried(batch=batch, attempts=task.before, read=task.read)


def _report(
    function: "ArrowFunction",
    ended: "Accumulator[list[EndedTask]]",
    ledger: str | None,
    batches: "Iterator[pa.RecordBatch]",
) -> "Iterator[pa.RecordBatch]":
    before = _attempts_before()
    read = _Read()
    deferred = 0
    for records in function(read.noting(batches) if before else batches):
        if ledger is not None:
            deferred += records.column("topic").to_pylist().count(ledger)
        yield records
    ended.add([EndedTask(task_attempt(), before, read.offsets(), deferred)])


def _attempts_before() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.attemptNumber()


class _Read:
    """The offsets of each partition that were read, in as few ranges as possible when most are consecutive."""

    def __init__(self) -> None:
        self._ranges: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def noting(self, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset"))
            for topic, partition, offset in zip(*columns, strict=True):
                self._add(self._ranges.setdefault((topic, partition), []), offset)
            yield batch

    def offsets(self) -> tuple[OffsetsRead, ...]:
        return tuple(
            OffsetsRead(topic, partition, first, end)
            for (topic, partition), ranges in sorted(self._ranges.items())
            for first, end in ranges
        )

    def _add(self, ranges: list[tuple[int, int]], offset: int) -> None:
        if ranges and ranges[-1][0] <= offset < ranges[-1][1]:
            return  # a replayed batch and the ledger may both bring an event
        if ranges and ranges[-1][1] == offset:
            ranges[-1] = ranges[-1][0], offset + 1
        else:
            ranges.append((offset, offset + 1))
