"""Load on the cores: that it comes, and that it ends with whoever began it."""

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import psutil
import pytest

from devkit.errors import StackError
from devkit.faults.fault import Acting
from devkit.faults.machine import cpu_load
from devkit.faults.machine.cpu_load import CpuLoad
from devkit.guardian.processes import is_alive
from devkit.headroom.machine_use import fault_usage, load_processes
from devkit.waiting import wait_until
from tests.side_by_side import MACHINE
from tests.unit.devkit.faults.fakes import context

ROOMS = ("devkit/faults",)
pytestmark = MACHINE

PATIENCE = timedelta(seconds=20)


def of(acting: Acting) -> cpu_load._Burning:
    assert isinstance(acting, cpu_load._Burning)
    return acting


def used_s(acting: cpu_load._Burning) -> float:
    return sum(psutil.Process(burner.pid).cpu_times().user for burner in acting.burners)


def test_the_processes_use_the_cores_until_the_end() -> None:
    acting = of(CpuLoad(processes=2).begin(context()))
    burners = [psutil.Process(burner.pid) for burner in acting.burners]
    assert len(burners) == 2
    wait_until(lambda: used_s(acting) > 0.3, what="some work", deadline=PATIENCE)
    # One second by a clock of ours: how long the work took tells how busy the machine is.
    proof = replace(acting, clock=lambda: acting.began + 1).end()
    assert proof.acted
    assert proof.did.startswith("2 processes used ")
    assert not any(is_alive(burner) for burner in burners)


def test_processes_that_got_no_time_were_no_load() -> None:
    acting = of(CpuLoad(processes=1).begin(context()))
    assert not replace(acting, clock=lambda: acting.began + 10_000).end().acted


def test_when_one_cannot_be_started_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = cpu_load._start, list[psutil.Process]()

    def second_fails() -> "subprocess.Popen[bytes]":
        if started:
            raise OSError("no more processes")
        burner = start()
        started.append(psutil.Process(burner.pid))
        return burner

    monkeypatch.setattr(cpu_load, "_start", second_fails)
    with pytest.raises(StackError, match="no more processes"):
        CpuLoad(processes=2).begin(context())
    assert [is_alive(process) for process in started] == [False]


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
        assert is_alive(burner)
        holder.kill()
    wait_until(lambda: not is_alive(burner), what="the load to end", deadline=PATIENCE)


def test_the_processes_of_a_fault_are_known_while_they_run() -> None:
    acting = CpuLoad(processes=2).begin(context())
    try:
        usage = fault_usage()
        usage.look()
        # A child carries its mark once it has become the other program.
        wait_until(lambda: len(list(load_processes())) == 2, what="both to run", deadline=PATIENCE)
        wait_until(lambda: usage.look().cpu_cores > 0, what="some work", deadline=PATIENCE)
    finally:
        acting.end()
    assert list(load_processes()) == []
