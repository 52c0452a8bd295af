from datetime import timedelta

import pytest

from devkit.faults.machine.cpu_load import CpuLoad
from devkit.headroom.others import of_faults
from devkit.headroom.own_load import environment_of_load, load_processes, usable_cores
from devkit.waiting import wait_until
from tests.unit.devkit.faults.fakes import context


def test_the_processes_of_a_fault_are_known_while_they_run() -> None:
    acting = CpuLoad(processes=2).begin(context())
    try:
        usage = of_faults()
        usage.look()
        # A child carries its mark once it has become the other program.
        wait_until(lambda: len(list(load_processes())) == 2, what="both to run", deadline=timedelta(seconds=20))
        wait_until(lambda: usage.look().cpu_cores > 0, what="some work", deadline=timedelta(seconds=20))
    finally:
        acting.end()
    assert list(load_processes()) == []


def test_the_mark_is_beside_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "x")
    assert environment_of_load()["OTHER"] == "x"


def test_there_is_a_core() -> None:
    assert usable_cores() >= 1
