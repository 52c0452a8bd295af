from collections.abc import Iterator

import pytest

from devkit.headroom.machine_use import (
    MachineUsage,
    MachineUse,
    busy_seconds,
    load_environment,
    usable_cores,
)
from devkit.observe.samples.usage import Usage


class Own:
    def __init__(self, *cores: float) -> None:
        self._cores = iter(cores)

    def look(self) -> Usage:
        return Usage(next(self._cores), 0)


def counting(*values: float) -> Iterator[float]:
    return iter(values)


def test_what_others_use_is_all_less_the_runs_own() -> None:
    clock, busy = counting(0, 2, 4), counting(100, 103, 104)
    machine = MachineUsage(Own(0, 0.4, 0.5), Own(0, 0, 0), busy_s=lambda: next(busy), clock=lambda: next(clock))
    assert machine.look() == MachineUse(1.5 - 0.4, 0)
    assert machine.look() == MachineUse(0, 0)  # never below nothing, though the two are not read at one moment


def test_what_a_fault_takes_is_no_others_and_a_share_of_what_is_used_where_the_run_may() -> None:
    clock, busy = counting(0, 1, 2, 3), counting(0, 2, 10, 12)
    machine = MachineUsage(
        Own(0, 0.5, 0.5, 1), Own(0, 1, 1, 1.2), busy_s=lambda: next(busy), clock=lambda: next(clock), cores=lambda: 2
    )
    assert machine.look() == MachineUse(0.5, 0.5)
    # A machine of more cores than the run may use: what is busy beyond them takes nothing from it.
    assert machine.look() == MachineUse(6.5, 0.5)
    assert machine.look().others_cores == 0


def test_the_machine_has_worked_on_a_core() -> None:
    assert busy_seconds() > 0
    assert usable_cores() >= 1


def test_the_mark_is_beside_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "x")
    assert load_environment()["OTHER"] == "x"
