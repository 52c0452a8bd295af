"""The load average of the machine, for commands that have no probe of its speed."""

import os
from collections.abc import Callable

_BUSY = 2.0


def busy_sentence(load_average: Callable[[], tuple[float, float, float]] = os.getloadavg) -> str:
    """How busy the machine is; empty where at most two tasks for each core ran or waited in the last minute."""
    tasks, cores = load_average()[0], os.cpu_count() or 1
    return f"the machine is busy: {tasks:.0f} tasks for {cores} cores" if tasks > _BUSY * cores else ""
