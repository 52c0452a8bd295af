"""Faults on processes of a program under test: real ones, started for the test."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import psutil
import pytest

from devkit.errors import StackError
from devkit.faults.fault import Context, Fault, Undo
from devkit.faults.programs.kill_process import KillProcess
from devkit.faults.programs.stop_process import StopProcess
from devkit.guardian.processes import is_alive
from devkit.waiting import wait_until
from tests.integration.faults.conftest import WAITS, Spawn
from tests.unit.devkit.faults.fakes import context
from tests.unit.devkit.guardian.test_birth import set_clock

ROOMS = ("devkit/faults",)

IGNORES_TERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAITS


def of(processes: Sequence[psutil.Process], *, plans: list[Undo] | None = None) -> Context:
    def by_role(role: str, program: str | None) -> Sequence[psutil.Process]:
        return processes if (role, program) in (("worker", None), ("worker", "apply")) else ()

    plan = plans.append if plans is not None else lambda _undo: None
    return replace(context(plan=plan), processes=by_role)


def status(process: psutil.Process) -> str:
    return str(process.status())


def test_the_oldest_of_the_role_is_killed(spawn: Spawn) -> None:
    first, second = spawn(), spawn()
    proof = KillProcess(process="worker").begin(of([second, first])).end()
    assert proof.acted
    assert proof.did == f"SIGKILL to worker {first.pid}: ended"
    assert (is_alive(first), is_alive(second)) == (False, True)


def test_every_one_of_the_role_is_killed(spawn: Spawn) -> None:
    both = [spawn(), spawn()]
    proof = KillProcess(process="worker", every=True, signal="TERM").begin(of(both)).end()
    assert (proof.acted, [is_alive(process) for process in both]) == (True, [False, False])
    assert proof.did.startswith("SIGTERM to worker ")


def test_one_that_takes_its_time_after_sigterm_is_no_failure_of_the_fault(
    spawn: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devkit.faults.programs.kill_process._DYING", timedelta(milliseconds=50))
    process = spawn(IGNORES_TERM)
    proof = KillProcess(process="worker", signal="TERM").begin(of([process])).end()
    assert proof.acted
    assert "delivered, 1 of 1 still ran" in proof.did


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
@pytest.mark.parametrize("is_zombie", [True, False])
def test_one_that_had_ended_of_itself_was_not_killed(spawn: Spawn, signal: str, *, is_zombie: bool) -> None:
    gone, other = spawn(), spawn()
    gone.kill()
    if is_zombie:
        wait_until(lambda: not is_alive(gone), what="the end", deadline=timedelta(seconds=5))
    else:
        gone.wait(5)
    fault = KillProcess.model_validate({"process": "worker", "signal": signal, "every": True})
    proof = fault.begin(of([gone])).end()
    assert (proof.acted, proof.did) == (False, f"worker {gone.pid} had ended before SIG{signal} was sent")
    proof = fault.begin(of([gone, other])).end()
    assert proof.acted
    assert proof.did.startswith(f"SIG{signal} to worker {other.pid}: ended; worker {gone.pid} had ended before")


def test_only_the_processes_of_the_named_program_are_reached(spawn: Spawn) -> None:
    process = spawn()
    assert KillProcess(process="worker", program="apply").begin(of([process])).end().acted
    with pytest.raises(StackError, match="no worker process of the program decide runs"):
        KillProcess(process="worker", program="decide").begin(of([process]))


@pytest.mark.parametrize("fault", [KillProcess(process="driver"), StopProcess(process="driver")])
def test_without_such_a_process_the_fault_does_not_begin(fault: Fault, spawn: Spawn) -> None:
    with pytest.raises(StackError, match="no driver process of a program") as error:
        fault.begin(of([spawn()]))
    assert "when" in (error.value.hint or "")


def test_a_stopped_process_goes_on_at_the_end(spawn: Spawn) -> None:
    process, plans = spawn(), list[Undo]()
    acting = StopProcess(process="worker").begin(of([process], plans=plans))
    wait_until(lambda: status(process) == psutil.STATUS_STOPPED, what="the stop", deadline=timedelta(seconds=5))
    assert [plan.data["pid"] for plan in plans] == [str(process.pid)]
    proof = acting.end()
    assert proof.acted
    assert proof.did == f"process {process.pid} was stopped"
    wait_until(lambda: status(process) != psutil.STATUS_STOPPED, what="the end", deadline=timedelta(seconds=5))


def test_what_the_journal_says_is_enough_to_have_it_go_on(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    process, plans = spawn(), list[Undo]()
    StopProcess(process="worker").begin(of([process], plans=plans))
    wait_until(lambda: status(process) == psutil.STATUS_STOPPED, what="the stop", deadline=timedelta(seconds=5))
    other = plans[0].model_copy(update={"data": {**plans[0].data, "created": "1.00"}})
    StopProcess.undo(other)
    assert status(process) == psutil.STATUS_STOPPED, "a process of another time with the same id is left alone"
    set_clock(monkeypatch)
    StopProcess.undo(plans[0])
    wait_until(lambda: status(process) != psutil.STATUS_STOPPED, what="the end", deadline=timedelta(seconds=5))


def test_one_that_was_killed_meanwhile_shows_no_stop(spawn: Spawn) -> None:
    process = spawn()
    acting = StopProcess(process="worker").begin(of([process]))
    process.kill()
    process.wait(5)
    proof = acting.end()
    assert not proof.acted
    assert proof.did == f"process {process.pid} was gone"
