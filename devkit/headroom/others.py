"""Processor time of everything that is not the run's: what the whole machine used, less the run's own processes."""

import time
from collections.abc import Callable
from typing import Protocol

import psutil

from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.observe.usage import TreeUsage, Usage

_UNUSED = frozenset({"idle", "iowait"})
_COUNTED_TWICE = frozenset({"guest", "guest_nice"})
"""Linux counts the time of its own virtual machines as their processes' too."""


class _Usage(Protocol):
    def look(self) -> Usage: ...


class OthersUsage:
    """Cores that others used since the look before. What another virtual machine took from this one counts as theirs,
    and so does what parts in containers use: the container engine starts those.
    """

    def __init__(
        self, own: _Usage, *, busy_s: Callable[[], float] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._own, self._busy_s, self._clock = own, busy_s or busy_seconds, clock
        self._at, self._busy = self._clock(), self._busy_s()
        self._own.look()

    def look(self) -> float:
        at, busy = self._clock(), self._busy_s()
        own_cores = self._own.look().cpu_cores
        seconds, used_s = at - self._at, busy - self._busy
        self._at, self._busy = at, busy
        return max(0.0, used_s / seconds - own_cores) if seconds > 0 else 0.0


def busy_seconds() -> float:
    """What all cores together have worked since the machine started."""
    times = psutil.cpu_times()._asdict()
    return float(sum(value for name, value in times.items() if name not in _UNUSED | _COUNTED_TWICE))


def of_run(run_id: str) -> TreeUsage:
    """The use of a run's processes, found by its mark, and of this one."""
    this = psutil.Process()
    return TreeUsage(lambda: [this, *marked(RUN_VARIABLE, run_id)])
