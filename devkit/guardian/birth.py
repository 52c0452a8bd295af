"""When a process began, as text that tells it from a later process with its id."""

import contextlib
import sys
from pathlib import Path

import psutil

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_START_TIME = 22
_NAME = 2
"""The number of a field in /proc/PID/stat, see proc(5). The name may hold blanks and brackets."""


def birth(pid: int) -> str:
    """Raises psutil.NoSuchProcess when it is gone.

    On Linux in the kernel's ticks since the boot: the time of day of a beginning is reckoned from the clock, and so is
    another when the clock was set.
    """
    if sys.platform != "linux":
        return f"{psutil.Process(pid).create_time():.2f}"
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError) as error:
        raise psutil.NoSuchProcess(pid) from error
    ticks = stat.rpartition(")")[2].split()[_START_TIME - _NAME - 1]
    return f"{ticks} ticks after boot {_boot()}"


def _boot() -> str:
    """Not known where /proc is not the kernel's own, as in some sandboxes; those do not outlive a boot."""
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    return "unknown"
