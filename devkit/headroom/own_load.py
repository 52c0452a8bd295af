"""The processes by which a scenario's own faults load the machine: children of the run's command, known by a mark.

What they take of the machine is what the scenario is about, so it makes no finding inconclusive; see
`devkit.headroom.shortage`.
"""

import contextlib
import os
from collections.abc import Iterator

import psutil

_MARK = "DEVKIT_FAULT_LOAD"


def environment_of_load() -> dict[str, str]:
    """What a fault starts such a process with."""
    return {**os.environ, _MARK: "1"}


def load_processes() -> Iterator[psutil.Process]:
    """Those of this process that run now."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, OSError):  # it has ended since
            if child.environ().get(_MARK):
                yield child


def usable_cores() -> int:
    """How many cores this process, and what it starts, may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
