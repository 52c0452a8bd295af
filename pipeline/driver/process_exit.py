"""What a process says when it ends, whichever of its threads ends it."""

import os
import threading
from collections.abc import Callable
from typing import NoReturn, Protocol, Self

from pipeline import log
from pipeline.driver.stall import StalledError
from pipeline.driver.stop import StoppedHardError, StopRequest
from pipeline.errors import PipelineError, RefusedError, failure
from pipeline.events import Failed, Stopped


def log_failure(error: PipelineError) -> None:
    """For the log, and for a person."""
    stage = error.stage if isinstance(error, StalledError) else None
    refused = isinstance(error, RefusedError)
    log.emit(Failed(error=str(error), refused=refused, stalled=stage is not None, stalled_in=stage))
    log.write_stderr(error.render())


def end_at_once(outcome: PipelineError | Stopped) -> NoReturn:
    """Also where Spark does not answer. Nothing of it is left, unless this process is its child."""
    if isinstance(outcome, Stopped):
        log.emit(outcome)
    else:
        log_failure(outcome)
    from pipeline.driver.jvm import kill_jvm  # with Spark's own modules, which other commands need not wait for

    kill_jvm()
    os._exit(outcome.exit_code if isinstance(outcome, PipelineError) else 0)


class Writes(Protocol):
    """The batches' writer."""

    def check(self) -> None:
        """Raises PipelineError for a cause of the job's own."""

    def check_ownership(self) -> None:
        """Raises FencedError when a later start has taken the checkpoint."""


class Jvm(Protocol):
    """The driver's."""

    def is_out_of_memory(self) -> bool:
        """Whether that has ended it."""


def query_failure(writer: Writes, jvm: Jvm, cause: Exception | str) -> PipelineError:
    """`cause` is what Spark says of the query, or what asking it raised. Raises PipelineError for a cause of the job's
    own.
    """
    from py4j.protocol import Py4JNetworkError  # Spark's, which is not installed where only other commands are used

    # What was to ask it failed too, and says less.
    if jvm.is_out_of_memory():
        return failure("query", "java.lang.OutOfMemoryError: the JVM of Spark ran out of memory and has ended")
    writer.check()
    writer.check_ownership()
    if isinstance(cause, Py4JNetworkError | OSError):
        cause = f"the JVM of Spark does not answer ({type(cause).__name__}); its last words are in Spark's log, above"
    return failure("query", str(cause))


_LOOK_S = 0.5
_GRACE_S = 5.0
"""For the main thread to end the process by itself, as it does when it can."""


class Backstop:
    """Ends the process, by `end`, where its main thread waits for an answer of Spark's that does not come.

    A call to Spark goes to the JVM and back, without a timeout. A JVM that hangs (stopped, swapped out, in garbage
    collection, blocked on a full stderr pipe) blocks the main thread, which then handles neither signals nor late
    batches. This thread calls nothing of Spark.
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
        if (reason := self._stop.ends_now) is not None:
            return StoppedHardError(
                f"stopped while Spark does not answer, as {reason}",
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
