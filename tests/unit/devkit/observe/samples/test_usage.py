"""The use of a tree of processes, made by hand, and once by a real process."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from devkit.observe.samples.usage import TreeUsage


@dataclass(eq=False)
class Process:
    user_s: float = 0.0
    rss: int = 100
    gone: bool = False

    @contextlib.contextmanager
    def oneshot(self) -> Iterator[None]:
        yield

    def cpu_times(self) -> Any:
        if self.gone:
            raise psutil.NoSuchProcess(1)
        return SimpleNamespace(user=self.user_s, system=0.25)

    def memory_info(self) -> Any:
        return SimpleNamespace(rss=self.rss)


@dataclass
class Machine:
    processes: list[Process]
    now: float = 10.0

    def usage(self) -> TreeUsage:
        return TreeUsage(lambda: cast(list[psutil.Process], self.processes), clock=lambda: self.now)


def test_cores_are_cpu_seconds_a_second_since_the_look_before() -> None:
    jvm, worker = Process(user_s=1.0), Process(user_s=0.0, rss=40)
    machine = Machine([jvm, worker])
    usage = machine.usage()
    machine.now += 2
    assert usage.look().cpu_cores == pytest.approx((1.25 + 0.25) / 2)
    jvm.user_s, worker.user_s = 1.5, 0.1
    machine.now += 0.5
    look = usage.look()
    assert (look.cpu_cores, look.memory_bytes) == (pytest.approx(1.2), 140)


def test_what_ended_takes_nothing_away_from_the_rest() -> None:
    old, steady = Process(user_s=50.0), Process(user_s=1.0)
    machine = Machine([old, steady])
    usage = machine.usage()
    machine.now += 1
    usage.look()
    machine.processes, steady.user_s, machine.now = [steady], 1.5, machine.now + 1
    assert usage.look().cpu_cores == pytest.approx(0.5)


@pytest.mark.parametrize("processes", [[], [Process(gone=True)]], ids=["none", "one that ends while it is looked at"])
def test_no_processes_use_nothing(processes: list[Process]) -> None:
    machine = Machine(processes)
    usage = machine.usage()
    machine.now += 1
    look = usage.look()
    assert (look.cpu_cores, look.memory_bytes) == (0.0, 0)


def test_a_real_process() -> None:
    usage = TreeUsage(lambda: [psutil.Process()])
    look = usage.look()
    assert look.memory_bytes > 1_000_000
    assert look.cpu_cores > 0
