"""CPU and memory of a tree of processes: JVM, Python daemon and workers of the pipeline."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import psutil

from devkit.container.process_kind import process_kind


@dataclass(frozen=True)
class Usage:
    """`cpu_cores` is CPU seconds a second since the look before; memory is resident, shared pages in each of the
    `processes`. `memory_kinds` is the same memory by kind of process, where it is known which one was started first.
    """

    cpu_cores: float
    memory_bytes: int
    processes: int = 0
    memory_kinds: Mapping[str, int] = field(default_factory=dict)


class TreeUsage:
    """Measures the processes that `find` returns. The use of a process between the last look and its end is lost, so
    looks should be frequent. `first` gives the id of the process that was started, where kinds are distinguished.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[psutil.Process]],
        *,
        clock: Callable[[], float] = time.monotonic,
        first: Callable[[], int] | None = None,
    ) -> None:
        self._find, self._first = find, first
        self._clock = clock
        self._at = clock()
        self._cpu_s: dict[psutil.Process, float] = {}

    def look(self) -> Usage:
        """The use since the last look, or since this was made."""
        cpu_s: dict[psutil.Process, float] = {}
        memory_bytes = 0
        kinds: Counter[str] = Counter()
        for process in self._find():
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    size = process.memory_info().rss
                    kind = process_kind(process, self._first()) if self._first else None
            except psutil.Error:
                continue  # it has ended since it was found
            cpu_s[process] = times.user + times.system
            memory_bytes += size
            if kind is not None:
                kinds[kind] += size
        # A process is equal to another only with the same start time, so a pid that is used again begins from zero.
        used_s = sum(now - self._cpu_s.get(process, 0.0) for process, now in cpu_s.items())
        at, before = self._clock(), self._at
        self._cpu_s, self._at = cpu_s, at
        return Usage(used_s / (at - before) if at > before else 0.0, memory_bytes, len(cpu_s), dict(kinds))
