"""Notices that Spark writes to the checkpoint for long, which Spark itself reports only when it is through.

Between two micro-batches Spark writes the commit of one and the offsets of the next. An object store that is slow makes
that take minutes: the job is up, it logs nothing, and nothing is committed. The lesson: what waits for a store says so,
and ends where it cannot commit.
"""

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipeline import log
from pipeline.config.commit_section import Commit
from pipeline.driver.stall import StalledError
from pipeline.events import CommitSlow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUERY_THREAD = "stream execution thread"
# The offset log and the commit log are both of this class.
_LOG_CLASS = "MetadataLog"
# Of each look at the stacks of the JVM's threads, some hundred calls.
_LOOK_S = 1.0


class CommitWatch:
    """Told when a micro-batch begins and ends, and looks now and then whether Spark takes long between two.

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
            log.say(CommitSlow(batch=last, seconds=round(seconds, 3), place=self._place))
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
