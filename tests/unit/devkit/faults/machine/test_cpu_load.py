"""Load on the cores: that it comes, and that it ends with whoever began it."""

import subprocess
import sys
from datetime import timedelta

import psutil
import pytest

from devkit.errors import StackError
from devkit.faults.machine import cpu_load
from devkit.faults.machine.cpu_load import CpuLoad
from devkit.waiting import wait_until
from tests.unit.devkit.faults.fakes import context

PATIENCE = timedelta(seconds=20)


def burners() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "devkit.faults.machine.burn" in child.cmdline()]


def used_s() -> float:
    return sum(process.cpu_times().user for process in burners())


def test_the_processes_use_the_cores_until_the_end() -> None:
    acting = CpuLoad(processes=2).begin(context())
    assert len(burners()) == 2
    wait_until(lambda: used_s() > 0.3, what="some work", deadline=PATIENCE)
    proof = acting.end()
    assert proof.acted
    assert proof.did.startswith("2 processes used ")
    assert burners() == []


def test_processes_that_got_no_time_were_no_load() -> None:
    acting = CpuLoad(processes=1).begin(context())
    assert isinstance(acting, cpu_load._Burning)
    proof = cpu_load._Burning(acting.burners, acting.began, clock=lambda: acting.began + 10_000).end()
    assert not proof.acted


def test_when_one_cannot_be_started_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = cpu_load._start, list[object]()

    def second_fails() -> "subprocess.Popen[bytes]":
        if started:
            raise OSError("no more processes")
        started.append(1)
        return start()

    monkeypatch.setattr(cpu_load, "_start", second_fails)
    with pytest.raises(StackError, match="no more processes"):
        CpuLoad(processes=2).begin(context())
    assert burners() == []


def test_it_ends_when_who_began_it_is_killed() -> None:
    begins = (
        "import sys; from devkit.faults.machine.cpu_load import _start; print(_start().pid, flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", begins], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        burner = psutil.Process(int(holder.stdout.readline()))
        assert burner.is_running()
        holder.kill()
    wait_until(lambda: not burner.is_running(), what="the load to end", deadline=PATIENCE)
