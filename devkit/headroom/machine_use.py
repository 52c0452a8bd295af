"""Who used the machine's processor time: the run, the faults of its scenario, and other processes.

The processes by which a fault loads the machine are children of the run's command and have a mark. The scenario is
about their load, so it makes no finding inconclusive; see `devkit.headroom.shortage`.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import psutil

from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.observe.samples.usage import TreeUsage, Usage

_LOAD_MARK = "DEVKIT_FAULT_LOAD"
_UNUSED = frozenset({"idle", "iowait"})
_COUNTED_TWICE = frozenset({"guest", "guest_nice"})
"""Linux counts the time of its own virtual machines as their processes' too."""


class _Usage(Protocol):
    def look(self) -> Usage: ...


@dataclass(frozen=True)
class MachineUse:
    """`others_cores` is what processes used that are neither the run's nor its faults'. `fault_share` is what the
    faults' own took, as a share of all that was used of the cores that the run may use.
    """

    others_cores: float
    fault_share: float


def usable_cores() -> int:
    """How many cores this process, and what it starts, may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class MachineUsage:
    """Cores that others used since the look before. What another virtual machine took from this one counts as theirs,
    and so does what parts in containers use: the container engine starts those.
    """

    def __init__(
        self,
        own: _Usage,
        faults: _Usage,
        *,
        busy_s: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
        cores: Callable[[], int] = usable_cores,
    ) -> None:
        self._own, self._faults, self._cores = own, faults, cores
        self._busy_s, self._clock = busy_s or busy_seconds, clock
        self._at, self._busy = self._clock(), self._busy_s()
        self._own.look()
        self._faults.look()

    def look(self) -> MachineUse:
        """An average over the time since the last look; zeros when no time has passed."""
        at, busy = self._clock(), self._busy_s()
        own_cores, fault_cores = self._own.look().cpu_cores, self._faults.look().cpu_cores
        seconds, used_s = at - self._at, busy - self._busy
        self._at, self._busy = at, busy
        if seconds <= 0:
            return MachineUse(0.0, 0.0)
        used = used_s / seconds
        # What is busy beyond the cores that the run may use takes nothing from it.
        usable = max(min(used, self._cores()), own_cores + fault_cores)
        return MachineUse(max(0.0, used - own_cores - fault_cores), fault_cores / usable if usable > 0 else 0.0)


def busy_seconds() -> float:
    """Busy seconds of all cores together since the machine started."""
    times = psutil.cpu_times()._asdict()
    return float(sum(value for name, value in times.items() if name not in _UNUSED | _COUNTED_TWICE))


def run_usage(run_id: str) -> TreeUsage:
    """The use of a run's processes, found by its mark, and of this one."""
    command = psutil.Process()
    return TreeUsage(lambda: [command, *marked(RUN_VARIABLE, run_id)])


def load_environment() -> dict[str, str]:
    """The environment for a process by which a fault loads the machine."""
    return {**os.environ, _LOAD_MARK: "1"}


def load_processes() -> Iterator[psutil.Process]:
    """The processes by which faults of this run load the machine now."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, OSError):  # it has ended since
            if child.environ().get(_LOAD_MARK):
                yield child


def fault_usage() -> TreeUsage:
    """The use of `load_processes`."""
    return TreeUsage(load_processes)
