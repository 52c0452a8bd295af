"""`cpu_load: {processes: 4}`: other work on the cores, as a neighbour on the same machine would bring."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import psutil
from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof
from devkit.headroom.machine_use import load_environment
from located_config.count import counted

_LEAST_SHARE = 0.05
"""The share of a core below which the load counts as not having acted."""


class CpuLoad(Fault):
    """Each process wants a whole core. They end with the process that began the fault."""

    name: ClassVar[str] = "cpu_load"
    summary: ClassVar[str] = "other processes want the cores: the program gets its share and no more"
    example: ClassVar[str] = "{processes: 4}"

    processes: Annotated[int, Field(ge=1, le=64)] = Field(
        default=4, description="Number of processes, each of which wants a whole core."
    )

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def begin(self, context: Context) -> Acting:
        burners: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(self.processes):
                burners.append(_start())  # noqa: PERF401 — those that were started must be known when one fails
        except OSError as error:
            _end(burners)
            raise StackError(f"a process that loads the machine could not be started: {error}") from error
        return _Burning(burners, time.monotonic())


@dataclass(frozen=True)
class _Burning:
    burners: Sequence[subprocess.Popen[bytes]]
    began: float
    clock: Callable[[], float] = time.monotonic

    def end(self) -> Proof:
        lasted_s, used_s = self.clock() - self.began, sum(map(_used_s, self.burners))
        _end(self.burners)
        cores = used_s / lasted_s if lasted_s > 0 else 0.0
        burners = counted(len(self.burners), "process", "processes")
        did = f"{burners} used {used_s:.1f}s of processor time in {lasted_s:.1f}s"
        return Proof(acted=cores >= _LEAST_SHARE, did=did)


def _start() -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-P", "-m", "devkit.faults.machine.burn"]
    silent = subprocess.DEVNULL
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=silent, stderr=silent, env=load_environment())


def _used_s(burner: "subprocess.Popen[bytes]") -> float:
    try:
        times = psutil.Process(burner.pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


def _end(burners: "Sequence[subprocess.Popen[bytes]]") -> None:
    for burner in burners:
        burner.kill()
    for burner in burners:
        burner.communicate()
