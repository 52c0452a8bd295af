"""What the processes of a tree use: JVM, Python daemon and workers of the pipeline, found by their mark."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Usage:
    """`cpu_cores` is CPU seconds a second since the look before; memory is resident, shared pages in each of the
    `processes`.
    """

    cpu_cores: float
    memory_bytes: int
    processes: int = 0


class TreeUsage:
    """Looks at the processes that `find` returns. What a process used after its last look and before its end is lost,
    so a look should come often.
    """

    def __init__(
        self, find: Callable[[], Iterable[psutil.Process]], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._find = find
        self._clock = clock
        self._at = clock()
        self._cpu_s: dict[psutil.Process, float] = {}

    def look(self) -> Usage:
        """The use since the last look, or since this was made."""
        cpu_s: dict[psutil.Process, float] = {}
        memory_bytes = 0
        for process in self._find():
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    memory_bytes += process.memory_info().rss
            except psutil.Error:
                continue  # it has ended since it was found
            cpu_s[process] = times.user + times.system
        # A process is equal to another only with the same start time, so a pid that is used again begins from zero.
        used_s = sum(now - self._cpu_s.get(process, 0.0) for process, now in cpu_s.items())
        at, before = self._clock(), self._at
        self._cpu_s, self._at = cpu_s, at
        return Usage(used_s / (at - before) if at > before else 0.0, memory_bytes, len(cpu_s))
