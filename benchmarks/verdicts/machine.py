"""The machine under a run: free, beside busy processes, or one core of it. What is started is ended, by its pid."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Literal

Machine = Literal["busy", "alone", "one core"]
MACHINES: tuple[Machine, ...] = ("busy", "alone", "one core")

# Ends by itself, so that a bench that is killed leaves nothing for long.
_SPIN = (
    "import os, sys, time\nend = time.time() + float(sys.argv[1])\nwhile time.time() < end and os.getppid() > 1: pass"
)


@contextlib.contextmanager
def spinning(processes: int, at_most_s: float) -> Iterator[None]:
    """That many processes that want a core all the time.

    Each has a session of its own: where Linux shares the cores out by session (`sched_autogroup_enabled`), processes of
    one session would together take no more than a single one.
    """
    argv = [sys.executable, "-c", _SPIN, str(at_most_s)]
    started = [subprocess.Popen(argv, start_new_session=True) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@contextlib.contextmanager
def machine(kind: Machine, *, processes: int, at_most_s: float) -> Iterator[None]:
    """What is started meanwhile runs on such a machine."""
    with contextlib.ExitStack() as stack:
        if kind == "busy":
            stack.enter_context(spinning(processes, at_most_s))
        if kind == "one core":
            if sys.platform != "linux":
                raise RuntimeError("only Linux can be asked to leave a process on one core")
            cores = os.sched_getaffinity(0)
            stack.callback(os.sched_setaffinity, 0, cores)
            os.sched_setaffinity(0, {min(cores)})
        yield
