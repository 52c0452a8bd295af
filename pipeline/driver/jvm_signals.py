"""Signals under `spark-submit`, where the process that a supervisor knows is the JVM, and this one its child.

A JVM that gets SIGTERM runs its shutdown hooks at once: Spark's stops the context in the middle of a batch, and Python
hears of nothing. So the JVM's handlers are replaced by ones that pass the signal on. Then this process stops as it does
without spark-submit, and as `PythonRunner` waits for it, spark-submit ends with its exit code.
"""

import signal
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from pipeline.driver.stop import PASSED_ON
from pipeline.errors import RefusedError, root_cause

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
    """From now on this process gets SIGTERM and SIGINT of the JVM that has started it, as PASSED_ON. Raises
    RefusedError when the JVM leaves signals alone.
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
