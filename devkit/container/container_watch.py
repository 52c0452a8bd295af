"""Samples a program, and kills it when it is over a limit of its container."""

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import psutil

from devkit.container.kill import EVERY, ContainerFigures, ContainerKill, Limit
from devkit.container.limits import Container
from devkit.container.memory import MEASURE, TreeMemory


class HeldByEngine(Protocol):
    """A process that a container engine holds to its memory."""

    @property
    def went_over_memory(self) -> bool:
        """Known once it has ended."""


def _not_held() -> None:
    """Most processes run on this machine as they are."""


@dataclass(frozen=True)
class Contained:
    """A program's processes as they are now. `kill` ends them all, `clear` removes their scratch files.

    `engine` has the newest process where an engine enforces its memory limit: samples then only show who held what.
    """

    memory: Callable[[], TreeMemory]
    split: Callable[[TreeMemory], TreeMemory]
    disk: Callable[[], int]
    kill: Callable[[], object]
    clear: Callable[[], object]
    engine: Callable[[], HeldByEngine | None] = _not_held


def kill_at_once(processes: Iterable[psutil.Process], first: int) -> None:
    """SIGKILL to all of them; the first process of the program goes first, so that it cannot report how others died."""
    for process in sorted(processes, key=lambda process: process.pid != first):
        with contextlib.suppress(psutil.Error):
            process.kill()


class ContainerWatch:
    """Over all processes of one program, one after the other."""

    def __init__(self, limits: Container, program: Contained) -> None:
        self._limits, self._program = limits, program
        self._lock = threading.Lock()
        self._kills: list[ContainerKill] = []
        self._peak_memory = self._peak_disk = 0
        self._most = TreeMemory(rows=())
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def figures(self) -> ContainerFigures:
        """The peaks and kills up to now."""
        with self._lock:
            return ContainerFigures(
                memory_limit=self._limits.memory,
                disk_limit=self._limits.disk,
                measure=MEASURE,
                peak_memory=self._peak_memory,
                peak_disk=self._peak_disk,
                kills=tuple(self._kills),
            )

    def kill_of(self, process: int) -> ContainerKill | None:
        """Why a process that has ended was killed, None when it was not."""
        with self._lock:
            container_kill = next((kill for kill in self._kills if kill.process == process), None)
            held = self._program.engine()
            if container_kill is None and held is not None and held.went_over_memory:
                container_kill = self._killed_by_engine(process)
                self._kills.append(container_kill)
            return container_kill

    def _killed_by_engine(self, process: int) -> ContainerKill:
        assert self._limits.memory is not None
        return ContainerKill(
            process=process,
            limit="memory",
            allowed=self._limits.memory,
            used=self._most.total,
            memory=self._most,
            enforced_by="engine",
        )

    def look(self, process: int) -> ContainerKill | None:
        """One look at process number `process`; when it is over a limit it is killed, and the look says why."""
        memory = self._program.memory()
        disk = self._program.disk() if self._limits.disk is not None else 0
        with self._lock:
            self._peak_memory, self._peak_disk = max(self._peak_memory, memory.total), max(self._peak_disk, disk)
        is_held = self._program.engine() is not None
        if is_held and memory.total > self._most.total:
            self._most = self._near(memory)
        over = self._over(0 if is_held else memory.total, disk)
        if over is None:
            return None
        limit, allowed, used = over
        # Divided before the kill: afterwards there is nothing to see.
        held = self._program.split(memory)
        kill = ContainerKill(process=process, limit=limit, allowed=allowed, used=used, memory=held)
        with self._lock:
            self._kills.append(kill)
        self._program.kill()
        if limit == "disk":
            # A kubelet evicts the pod for it, and an evicted pod's files go with it.
            self._program.clear()
        return kill

    def start(self, process: int) -> None:
        """Look at process number `process` from now on, until `stop` or its kill."""
        self.stop()
        self._most = TreeMemory(rows=())
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(process, self._stop), name="container-watch", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        if self._stop is not None and self._thread is not None:
            self._stop.set()
            self._thread.join()

    def _run(self, process: int, stop: threading.Event) -> None:
        while not stop.wait(EVERY.total_seconds()):
            if self.look(process) is not None:
                return

    def _near(self, memory: TreeMemory) -> TreeMemory:
        """Divided where the engine may kill before the next look; a division takes longer than a look."""
        is_near = self._limits.memory is not None and 2 * memory.total > self._limits.memory
        return self._program.split(memory) if is_near else memory

    def _over(self, memory: int, disk: int) -> tuple[Limit, int, int] | None:
        if self._limits.memory is not None and memory > self._limits.memory:
            return "memory", self._limits.memory, memory
        if self._limits.disk is not None and disk > self._limits.disk:
            return "disk", self._limits.disk, disk
        return None
