"""Finding and ending the processes of a run: by descent, and by the run's id in their environment."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psutil

from devkit.errors import WaitTimeoutError
from devkit.waiting import wait_until

RUN_VARIABLE = "DEVKIT_RUN_ID"
TREE_VARIABLE = "DEVKIT_PROCESS_TREE"

_DYING = timedelta(milliseconds=50)
_LOOK = timedelta(milliseconds=2)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_START_TIME = 22
_NAME = 2
"""The number of a field in /proc/PID/stat, see proc(5). The name may hold blanks and brackets."""


def become_subreaper() -> bool:
    """Have orphaned descendants re-parented to this process; False where the system has no such thing (macOS)."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def die_with_parent() -> None:
    """For a child between fork and exec: be killed when the parent dies. Linux only, elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def marked(variable: str, value: str) -> list[psutil.Process]:
    """Living processes that carry `variable=value` in their environment, this one left out."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _carries(process, variable, value)
    ]


def descendants() -> list[psutil.Process]:
    """Living processes below this one."""
    with contextlib.suppress(psutil.Error):
        return [process for process in psutil.Process().children(recursive=True) if is_alive(process)]
    return []


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; a zombie holds neither port nor file and does not count."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def kill_until_gone(
    find: Callable[[], list[psutil.Process]], *, reap: Callable[[], object], deadline_s: float = 15.0
) -> list[psutil.Process]:
    """SIGKILL what `find` returns, again and again until it returns nothing, as the dying may still fork.

    Returns what was left at the deadline (processes in uninterruptible sleep).
    """
    end = time.monotonic() + deadline_s
    while victims := find():
        for victim in victims:
            with contextlib.suppress(psutil.Error):
                victim.kill()
        # Not psutil's own wait: it would take the exit codes of children, which `reap` is there to take.
        with contextlib.suppress(WaitTimeoutError):
            wait_until(
                lambda: not any(map(is_alive, victims)), what="the killed to die", deadline=_DYING, interval=_LOOK
            )
        reap()
        if time.monotonic() > end:
            return victims
    return []


def _carries(process: psutil.Process, variable: str, value: str) -> bool:
    try:
        return process.environ().get(variable) == value and is_alive(process)
    except (psutil.Error, OSError):
        return False


def birth(pid: int) -> str:
    """When a process began, as text that tells it from a later process with its id. Raises psutil.NoSuchProcess.

    On Linux in the kernel's ticks since the boot: the time of day of a beginning comes from the clock, so it
    changes when the clock is set.
    """
    if sys.platform != "linux":
        return f"{psutil.Process(pid).create_time():.2f}"
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError) as error:
        raise psutil.NoSuchProcess(pid) from error
    ticks = stat.rpartition(")")[2].split()[_START_TIME - _NAME - 1]
    return f"{ticks} ticks after boot {_boot_id()}"


def _boot_id() -> str:
    """Not known where /proc is not the kernel's own, as in some sandboxes; those do not outlive a boot."""
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    return "unknown"
