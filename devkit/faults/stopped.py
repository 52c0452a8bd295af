"""A process that was stopped by SIGSTOP, as the journal knows it: enough to have it go on, and it alone."""

import contextlib
import os
import signal
from collections.abc import Mapping

import psutil

from devkit.guardian.birth import birth


def as_data(process: psutil.Process) -> dict[str, str]:
    """Raises psutil.NoSuchProcess when it has ended."""
    return {"pid": str(process.pid), "created": birth(process.pid)}


def go_on(data: Mapping[str, str]) -> None:
    """Send SIGCONT; nothing where it has ended, also when a process of later has its id."""
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        pid = int(data["pid"])
        if birth(pid) == data["created"]:
            os.kill(pid, signal.SIGCONT)
