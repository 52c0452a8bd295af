"""Looks at a program again and again, and kills it when it is over a limit of its container."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from devkit.container.limits import Container
from devkit.container.memory import TreeMemory, describe

KILLED = 137
"""The exit code by which a container's end at its memory limit is known: 128 and SIGKILL's number."""

EVERY = timedelta(milliseconds=200)

Limit = Literal["memory", "disk"]


@dataclass(frozen=True)
class ContainerKill:
    """A program was over a limit. Sizes in bytes; `memory` is what its processes held then, by kind."""

    process: int
    limit: Limit
    allowed: int
    used: int
    memory: TreeMemory

    @property
    def text(self) -> str:
        """What a person is told, with the way it was found out."""
        mib = 1 << 20
        how = f"{self.memory.measure} memory" if self.limit == "memory" else "scratch directory"
        return (
            f"over its container's {self.limit} limit of {self.allowed / mib:,.0f} MiB: "
            f"{how} of {self.used / mib:,.0f} MiB ({describe(self.memory)}); "
            f"killed as {KILLED}, enforced by sampling every {EVERY / timedelta(milliseconds=1):.0f} ms"
        )


@dataclass(frozen=True)
class Peak:
    """The most that was seen at any look, in bytes."""

    memory: int = 0
    disk: int = 0


class ContainerWatch:
    """`memory` and `disk` look at process number `process` of a program; `kill` ends all of it.

    `look` is called by whoever has a clock: `start` does it from a thread of its own.
    """

    def __init__(
        self,
        limits: Container,
        *,
        memory: Callable[[], TreeMemory],
        split: Callable[[TreeMemory], TreeMemory],
        disk: Callable[[], int],
        kill: Callable[[], object],
    ) -> None:
        self._limits, self._memory, self._split, self._disk, self._kill = limits, memory, split, disk, kill
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._peak = Peak()
        self._killed: ContainerKill | None = None

    @property
    def peak(self) -> Peak:
        return self._peak

    @property
    def killed(self) -> ContainerKill | None:
        """Why this process was killed, None while it was not."""
        with self._lock:
            return self._killed

    def look(self, process: int) -> ContainerKill | None:
        """One look; what is over is killed, once."""
        memory, disk = self._memory(), self._disk() if self._limits.disk is not None else 0
        self._peak = Peak(max(self._peak.memory, memory.total), max(self._peak.disk, disk))
        over = self._over(memory.total, disk)
        if over is None or self.killed is not None:
            return None
        limit, allowed, used = over
        # Looked at before the kill: afterwards there is nothing to see.
        found = ContainerKill(process, limit, allowed, used, self._split(memory))
        with self._lock:
            self._killed = found
        self._kill()
        return found

    def start(self, process: int) -> None:
        """Look every 200 ms from now on, until `stop` or the kill."""
        self._thread = threading.Thread(target=self._run, args=(process,), name="container-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self, process: int) -> None:
        while not self._stop.wait(EVERY.total_seconds()):
            if self.look(process) is not None:
                return

    def _over(self, memory: int, disk: int) -> tuple[Limit, int, int] | None:
        if self._limits.memory is not None and memory > self._limits.memory:
            return "memory", self._limits.memory, memory
        if self._limits.disk is not None and disk > self._limits.disk:
            return "disk", self._limits.disk, disk
        return None
