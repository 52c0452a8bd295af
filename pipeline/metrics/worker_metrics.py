"""What a Python worker measures, and how it gets to the driver.

One recorder for the process, as workers outlive batches and the fetcher's connections do; a worker has one task at a
time, so what it holds at the task's end is the task's. It goes to the driver once a task, through an accumulator: that
costs nothing for an event. A task that fails takes its measurements along; the query fails with it.
"""

import asyncio
import functools
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeVar

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.message import Unfinished
from pipeline.metrics import catalogue
from pipeline.metrics.measurements import Measurements, Origin, Recorder
from pipeline.records.claim_check import KEY_HEADER
from pipeline.records.error_event import error_type_in
from pipeline.records.record import Record

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes(pid: int | None = None, *, proc: Path = Path("/proc")) -> int | None:
    """Resident memory of this process, or of `pid`, from `/proc`; None when it cannot be known, as of a process that
    has ended.
    """
    try:
        fields = (proc / ("self" if pid is None else str(pid)) / "statm").read_text().split()
        return int(fields[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return None


M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)
O = TypeVar("O")  # noqa: E741 — an outcome
P = ParamSpec("P")
R = TypeVar("R")

RECORDER = Recorder()


class Task(Protocol[M_contra, O]):
    """What becomes of messages; see `pipeline.deferral.task`."""

    async def process(self, message: M_contra) -> O:
        """May run for several messages at once, ahead of their order."""

    async def in_turn(self, message: M_contra, outcome: O) -> O:
        """What comes of a message when those of its page before it are settled."""

    def settle(self, message: M_contra, outcome: O) -> Record | None:
        """Called in the order of the messages; None when no record is emitted."""


@dataclass(frozen=True)
class Measured(Generic[M, O]):
    """A task that counts the outcomes of its messages."""

    task: Task[M, O]
    config: PipelineConfig
    recorder: Recorder = RECORDER

    async def process(self, message: M) -> O:
        """Records the seconds of an event that was tried, unless the task raises: one that only waits for its page, or
        for an upstream that is not asked, takes none, and would make the others look fast.
        """
        started = time.monotonic()
        outcome = await self.task.process(message)
        if not isinstance(outcome, Unfinished) or (outcome.tried and outcome.failure.error_type != "waits"):
            self.recorder.observe(catalogue.RECORD_SECONDS, time.monotonic() - started)
        return outcome

    async def in_turn(self, message: M, outcome: O) -> O:
        """The task's own."""
        return await self.task.in_turn(message, outcome)

    def settle(self, message: M, outcome: O) -> Record | None:
        """Counts the record here and not in `process`, whose outcome the task may still replace."""
        record = self.task.settle(message, outcome)
        if record is None:
            # An outcome without a record is an entry that stays deferred; it was counted when it was deferred.
            if outcome is None:
                self.recorder.count(catalogue.EVENTS, "filtered")
        elif record.topic in self.config.sink.error_topics:
            self.recorder.count(catalogue.EVENTS, "error")
            self.recorder.count(catalogue.ERRORS, error_type_in(record.value))
        elif record.topic == self.config.deferral.topic:
            self.recorder.count(catalogue.EVENTS, "deferred")
        else:
            self.recorder.count(catalogue.EVENTS, "output")
            if stored := sum(name == KEY_HEADER for each in record.all for name, _content in each.headers):
                self.recorder.count(catalogue.CLAIM_CHECKS, by=stored)
        return record


def measured_request(
    *, failed: type, recorder: Recorder = RECORDER
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """Counts and times each call of a coroutine function that makes one request.

    It is `failed` when it returns one of that class, `abandoned` when its time was over or its caller was gone,
    `refused` when it raises anything else, else `ok`.
    """

    def decorate(request: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        @functools.wraps(request)
        async def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            started, outcome = time.monotonic(), "refused"
            recorder.raise_(catalogue.IN_FLIGHT_PEAK)
            try:
                result = await request(*args, **kwargs)
            except (asyncio.CancelledError, TimeoutError):
                outcome = "abandoned"
                raise
            else:
                outcome = "failed" if isinstance(result, failed) else "ok"
                return result
            finally:
                recorder.raise_(catalogue.IN_FLIGHT_PEAK, by=-1)
                recorder.count(catalogue.FETCHES, outcome)
                recorder.observe(catalogue.FETCH_SECONDS, time.monotonic() - started)

        return wrapper

    return decorate


def reporting(
    function: "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]",
    measurements: "Accumulator[Measurements]",
) -> "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]":
    """The same function for `mapInArrow`; each task of it adds what it measured to `measurements` when it ends."""
    return functools.partial(_report, function, measurements)


def _report(
    function: "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]",
    measurements: "Accumulator[Measurements]",
    batches: "Iterator[pa.RecordBatch]",
) -> "Iterator[pa.RecordBatch]":
    RECORDER.drain()  # what remains of a task that failed, or whose measurements were not collected
    yield from function(batches)
    memory = resident_bytes()
    if memory is not None:
        RECORDER.set(catalogue.WORKER_MEMORY, memory)
    measurements.add(RECORDER.drain().measured_in(_origin()))


def _origin() -> Origin:
    from pyspark import TaskContext

    context = TaskContext.get()
    return Origin(-1 if context is None else context.stageId(), _worker(os.getpid()))


@functools.cache
def _worker(_pid: int) -> str:
    # Executors may be on hosts of the same name, and in containers that number their processes alike.
    return uuid.uuid4().hex
