"""From a signal to the end of the process: what is under way is finished, and nothing else begins.

SIGTERM ─▶ the batch at work ─▶ Spark's commit ─▶ the query is stopped ─▶ exit 0
the next batch is held before it writes anything
slow rounds end, or are given up with the time: their entries stand in the ledger
a signal before the query runs ─▶ exit 0 at once: nothing has begun that could be finished
stop_timeout is over, or a second signal ─▶ exit 3: the batch at work comes again after the next start

Signals come in two ways: to this process, and to the JVM that is its parent (`pass_signals_on`). One that goes to a
whole group of processes, as Ctrl-C does, comes in both, and is one signal all the same.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.errors import PipelineError, RefusedError, root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PASSED_ON = signal.SIGUSR1
"""By which this process hears of a signal that the JVM has got."""
_OWN = (signal.SIGTERM, signal.SIGINT)
_AN_HOUR_MS = 3_600_000
# By these words Spark knows an exception from Python for a stop, and not for a failure of the query.
_INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling sleep: java.lang.InterruptedException"


class StoppedHardError(PipelineError):
    """The process ends with a batch at work, as a stop may not take longer."""

    exit_code: ClassVar[int] = 3


class StoppedEarlyError(BaseException):
    """A signal came before the query runs. No `Exception`, so that no handler takes it for a failure of a part."""


def stop_early(number: int, _frame: FrameType | None) -> None:
    """What a signal does until the query runs. The next one that arrives the same way ends the process; the same signal
    that arrives the other way is ignored. Raises StoppedEarlyError.
    """
    passed_on = number == PASSED_ON
    for signal_number in _OWN:
        signal.signal(signal_number, signal.SIG_IGN if passed_on else signal.SIG_DFL)
    signal.signal(PASSED_ON, signal.SIG_DFL if passed_on else signal.SIG_IGN)
    raise StoppedEarlyError


@contextmanager
def late_signals() -> Iterator[None]:
    """Delays a signal until the end of the block, which must not be interrupted. A second one ends the process."""
    received: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        for signal_number in _OWN:
            signal.signal(signal_number, signal.SIG_DFL)

    handlers = {number: signal.signal(number, note) for number in _OWN}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if received:
        signal.raise_signal(received[0])


def on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    """Sets the handler of the signals that end a process; call it in the main thread."""
    for number in (*_OWN, PASSED_ON):
        signal.signal(number, handler)


class HeldError(Exception):
    """A batch that was held has been asked to end."""


class StopRequest:
    """Signals that have arrived. Its handler takes no lock, as it interrupts a thread that may hold one."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._own = 0
        self._passed_on = 0
        self._since: float | None = None

    def signal(self, number: int) -> None:
        """This signal has come."""
        if self._since is None:
            self._since = self._clock()
        if number == PASSED_ON:
            self._passed_on += 1
        else:
            self._own += 1

    @property
    def is_there(self) -> bool:
        """Whether at least one signal has come."""
        return self._since is not None

    @property
    def seconds(self) -> float:
        """Since the first signal."""
        return 0.0 if self._since is None else self._clock() - self._since

    @property
    def ends_now(self) -> str | None:
        """Why nothing may be waited for any more, if so."""
        if max(self._own, self._passed_on) > 1:
            return "a second signal came"
        if self.seconds >= self.limit_s:
            return f"stop_timeout {self.limit_s:g} s is over"
        return None


class BatchGate:
    """The way to the sink: one batch at a time is within, and none enters once it is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._held = False
        self._batch: int | None = None

    def enter(self, batch: int) -> bool:
        """Whether the batch may write; False for the one that is held."""
        with self._lock:
            if self._closed:
                self._held = True
                return False
            self._batch = batch
            return True

    def leave(self) -> None:
        """The batch has written, or failed."""
        with self._lock:
            self._batch = None

    def close(self) -> None:
        """No batch enters any more; the one within may write."""
        with self._lock:
            self._closed = True

    @property
    def batch(self) -> int | None:
        """The batch within."""
        with self._lock:
            return self._batch

    @property
    def held(self) -> bool:
        """Whether a batch waits before it: then all before that one are committed."""
        with self._lock:
            return self._held


def hold(spark: "SparkSession") -> None:
    """Wait for the query's stop in `foreachBatch`. Raises HeldError, which Spark takes for that stop.

    Python's own waits would not hear of it: the stop interrupts the query's thread in the JVM, on which this sleeps.
    """
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm  # noqa: SLF001
    try:
        jvm.java.lang.Thread.sleep(_AN_HOUR_MS)
    except Py4JJavaError:
        # Its own text holds a stack trace that is too long for the expression that Spark looks for the words with.
        raise HeldError(_INTERRUPTED) from None
    raise HeldError("the query was not stopped")


_NAMES = ("TERM", "INT")


class _Passing:
    """A handler of the JVM; the JVM gives each signal a thread of its own, in which it is called."""

    def __init__(self, pass_on: Callable[[], None]) -> None:
        self._pass_on = pass_on

    def handle(self, _signal: object) -> None:
        self._pass_on()

    class Java:
        implements: ClassVar = ["sun.misc.SignalHandler"]


def pass_signals_on() -> None:
    """Under `spark-submit`: this process gets SIGTERM and SIGINT of its parent, the JVM, as PASSED_ON.

    A supervisor knows only that JVM, whose shutdown hooks would stop Spark's context in the middle of a batch. So its
    handlers are replaced. `PythonRunner` waits for this process, and spark-submit ends with its exit code. Raises
    RefusedError when the JVM does not handle signals.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext
    from pyspark.java_gateway import ensure_callback_server_started

    SparkContext._ensure_initialized()  # noqa: SLF001 — connects to that JVM
    gateway: Any = SparkContext._gateway  # noqa: SLF001
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    misc = gateway.jvm.sun.misc
    handler = _Passing(_to_main_thread)
    try:
        for name in _NAMES:
            misc.Signal.handle(misc.Signal(name), handler)
    except Py4JJavaError as error:
        raise RefusedError(
            f"the driver's JVM leaves signals to the system: {root_cause(str(error))}",
            hint="remove -Xrs from its options: a stop would end it in the middle of a batch",
        ) from error


def _to_main_thread() -> None:
    # To that thread, as it alone runs Python's handlers, and may sleep in a call that only a signal wakes.
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, PASSED_ON)
