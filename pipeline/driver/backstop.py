"""Ends the process where its main thread cannot, as that waits for an answer of Spark's which does not come.

What the driver asks Spark goes to the JVM and back, without a limit of time. A JVM that stands still (stopped, swapped
out, busy with its garbage, held by a full pipe behind its standard error) holds the main thread with it: that hears of
signals and of late batches, and can act on none of it. This thread asks Spark for nothing.
"""

import threading
from collections.abc import Callable
from typing import Self

from pipeline.driver.stop import StoppedHardError, StopRequest
from pipeline.errors import PipelineError
from pipeline.events import Stopped

_LOOK_S = 0.5
_GRACE_S = 5.0
"""For the main thread to end the process by itself, as it does when it can."""


class Backstop:
    """Told by the main thread that it goes on; ends the process, by `end`, when it does not: with the error, or with
    what is said of a stop where all that had begun is committed.
    """

    def __init__(
        self,
        stop: StopRequest,
        limit_s: float,
        end: Callable[[PipelineError | Stopped], None],
        clock: Callable[[], float],
    ) -> None:
        """`limit_s` is how long the main thread may do one thing without a stop being asked for."""
        self._stop, self._limit_s, self._end, self._clock = stop, limit_s, end, clock
        self._over = threading.Event()
        self._beat = clock()
        self._since: float | None = None
        self._given_up: int | None = None

    def start(self) -> None:
        """From now on the main thread is waited for."""
        self._beat = self._clock()
        threading.Thread(target=self._run, name="backstop", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """The main thread ends the process itself."""
        self._over.set()

    def goes_on(self) -> None:
        """The main thread does."""
        self._beat = self._clock()

    def committed(self, *, rounds: int) -> None:
        """All that had begun is, but for slow rounds that are given up."""
        self._given_up = rounds

    def look(self) -> None:
        """Calls `end` for what has been so for a while: a process that stood still as a whole goes on as a whole."""
        now = self._clock()
        error = self._overdue(now)
        if error is None:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= _GRACE_S:
            if self._given_up is None:
                self._end(error)
            else:
                self._end(Stopped(seconds=round(self._stop.seconds, 3), rounds_given_up=self._given_up))

    def _overdue(self, now: float) -> PipelineError | None:
        if (why := self._stop.ends_now) is not None:
            return StoppedHardError(
                f"stopped while Spark does not answer, as {why}",
                hint="what is under way is processed again after the next start, and what of it was emitted is then "
                "emitted twice",
            )
        if now - self._beat > self._limit_s:
            return PipelineError(
                f"the JVM of Spark has not answered for {self._limit_s:g} s",
                hint="look at what holds it: memory, the machine, or who reads its standard error",
            )
        return None

    def _run(self) -> None:
        while not self._over.wait(_LOOK_S):
            self.look()
