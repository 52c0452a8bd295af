"""Notices a micro-batch that does not commit in its time, and a next one that is not planned, so that silence becomes a
failure that the supervisor sees.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline import log
from pipeline.config.batch_section import Commit
from pipeline.errors import PipelineError
from pipeline.events import CommitSlow, Stalled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HINTS: dict[Stalled, str] = {
    "batch": "stall_timeout says how long a batch may take; deferral keeps slow records from holding it",
    "commit": "Spark writes the commit to the checkpoint: look at the object store",
    "planning": "to plan a batch, Spark asks the brokers where the source ends and writes that to the checkpoint: look "
    "at both",
}


class StalledError(PipelineError):
    """Nothing was committed within `stall_timeout`, or `commit.timeout`; tasks may still be running."""

    def __init__(self, message: str, stage: Stalled, *, hint: str | None = None) -> None:
        """`stage` is what did not come to its end."""
        super().__init__(message, hint=_HINTS[stage] if hint is None else hint)
        self.stage = stage


@dataclass(frozen=True, slots=True)
class _Awaited:
    batch: int
    stage: Stalled
    since: float

    @property
    def text(self) -> str:
        match self.stage:
            case "batch":
                return f"batch {self.batch} is still at work"
            case "commit":
                return f"batch {self.batch} is emitted, and its commit is not written"
            case "planning":
                return f"batch {self.batch} is committed, and the next one is not planned"


class StallWatch:
    """Told when the work of a batch begins, when it is emitted and when it is committed; asked now and then whether it
    is late. The time of a batch includes that of its commit; planning the next one has as long again.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._awaited: _Awaited | None = None

    def begin(self, batch: int) -> None:
        """The time of the batch begins."""
        with self._lock:
            self._awaited = _Awaited(batch, "batch", self._clock())

    @property
    def batch(self) -> int | None:
        """The batch at work, or the last one while the next is planned; None while nothing is awaited."""
        with self._lock:
            return self._awaited.batch if self._awaited else None

    def emitted(self, batch: int) -> None:
        """The batch is written to the sink; Spark commits it."""
        with self._lock:
            if self._awaited is not None and self._awaited.batch == batch:
                self._awaited = _Awaited(batch, "commit", self._awaited.since)

    def committed(self, batch: int) -> None:
        """The batch is committed, and the next one is planned. Nothing happens when another one is at work."""
        with self._lock:
            if self._awaited is not None and self._awaited.batch == batch:
                self._awaited = _Awaited(batch, "planning", self._clock())

    def end(self, batch: int | None = None) -> None:
        """Nothing is under way: the batch is committed, whichever it is when none is named, and no next one is planned.
        Nothing happens when another one was at work.
        """
        with self._lock:
            if self._awaited is not None and batch in (None, self._awaited.batch):
                self._awaited = None

    def check(self) -> None:
        """Raises StalledError when a batch is late, or the plan of the next one."""
        with self._lock:
            awaited = self._awaited
            if awaited is None or self._clock() - awaited.since <= self._limit_s:
                return
        raise StalledError(f"no commit within {self._limit_s:g} s: {awaited.text}", awaited.stage)


_QUERY_THREAD = "stream execution thread"
# The offset log and the commit log are both of this class.
_LOG_CLASS = "MetadataLog"
# Of each look at the stacks of the JVM's threads, some hundred calls.
_LOOK_S = 1.0


class CommitWatch:
    """Told when a micro-batch begins and ends, and checks how long Spark takes between two.

    Between two micro-batches Spark writes the commit of one and the offsets of the next. An object store that is slow
    makes that take minutes, in which Spark reports nothing. The lesson: what waits for a store says so, and ends where
    it cannot commit.

    `is_writing` says whether Spark writes to the checkpoint at the moment: between two batches it also asks Kafka for
    offsets. It is asked only when there was a long time without a batch.
    """

    def __init__(
        self,
        settings: Commit,
        limit_s: float,
        place: str,
        clock: Callable[[], float],
        is_writing: Callable[[], bool],
        on_slow: Callable[[], None] = lambda: None,
    ) -> None:
        """`limit_s` is how long the writes between two batches may take; `on_slow` is called with each line logged."""
        self._limit_s, self._place, self._clock = limit_s, place, clock
        self._slow_s = settings.slow_after.total_seconds()
        self._is_off = settings.policy == "wait"
        self._is_writing, self._on_slow = is_writing, on_slow
        self._lock = threading.Lock()
        self._in_batch = False
        self._since: float | None = None
        self._last: int | None = None
        self._is_slow = False
        self._next_look = 0.0
        self._not_writing = -math.inf

    def batch_begins(self) -> None:
        """Spark has called the job for a batch: its offsets are written."""
        with self._lock:
            self._in_batch = True
            self._rest()

    def batch_ends(self, number: int) -> None:
        """The job has returned: Spark commits the batch."""
        with self._lock:
            self._in_batch = False
            self._last = number
            self._rest()
            self._since = self._clock()

    def check(self, *, active: bool) -> None:
        """`active` is whether Spark is in a trigger. Raises StalledError when it writes for longer than it may."""
        if self._is_off:
            return
        with self._lock:
            if self._in_batch:
                return
            if not active:
                self._rest()
                return
            now = self._clock()
            if self._since is None:
                self._since = now
            since, last = self._since, self._last
            seconds = now - since
            if seconds < min(self._slow_s, self._limit_s) or now < self._next_look:
                return
            self._next_look = now + _LOOK_S
        is_writing = self._is_writing()
        with self._lock:
            if self._since != since:
                return  # a batch began or ended meanwhile
            if not is_writing:
                self._not_writing, self._is_slow = now, False
                return
            # What is written now was begun after the last look that saw no write: Kafka may have taken the rest.
            seconds = now - max(since, self._not_writing)
            if seconds < min(self._slow_s, self._limit_s):
                return
            slow, self._is_slow = seconds >= self._slow_s and not self._is_slow, True
        if slow:
            log.emit(CommitSlow(batch=last, seconds=round(seconds, 3), place=self._place))
            self._on_slow()
        if seconds > self._limit_s:
            raise StalledError(
                f"no commit within {self._limit_s:g} s: Spark has been writing to checkpoint {self._place} "
                + ("since the start" if last is None else f"since batch {last} was emitted"),
                "commit",
                hint="look at the object store; commit.timeout says how long the writes between two batches may take",
            )

    def _rest(self) -> None:
        self._since, self._is_slow = None, False


def writes_checkpoint(spark: "SparkSession") -> bool:
    """Whether the thread of a query is in one of the checkpoint's logs, by its stack."""
    jvm: Any = spark._jvm  # noqa: SLF001
    stacks = jvm.java.lang.Thread.getAllStackTraces()
    for thread in stacks.keySet():
        if str(thread.getName()).startswith(_QUERY_THREAD):
            return any(_LOG_CLASS in str(frame.getClassName()) for frame in stacks[thread])
    return False
