"""`pause` on a process that answers."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import psutil
import pytest

from devkit.faults.fault import Undo
from devkit.faults.parts.pause import Pause, _Paused
from devkit.stack.parts.liveness import answers
from devkit.waiting import wait_until
from tests.integration.part_server import part_server
from tests.unit.devkit.faults.fakes import FakeLife, FakePart, context

ROOMS = ("devkit/faults",)


@dataclass(frozen=True)
class Server:
    process: "subprocess.Popen[str]"
    part: FakePart

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)


@pytest.fixture
def server() -> Iterator[Server]:
    with part_server() as (process, address):
        yield Server(process, FakePart("store", address, FakeLife("store", pid=process.pid)))


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that answers nothing while a fault lasts."""
    monkeypatch.setattr("devkit.faults.parts.pause.LivenessProbe.is_answered", lambda _probe: False)


def test_a_process_that_stands_still_answers_nothing(server: Server) -> None:
    plans: list[Undo] = []
    server.stop()
    proof = Pause(part="store").begin(context(server.part, plan=plans.append)).end()
    assert proof.acted
    did = rf"process {server.process.pid} was stopped for \d+\.\d s, and it answered nothing"
    assert re.fullmatch(did, proof.did)
    assert server.part.pulled == ["pause", "resume"]
    (plan,) = plans
    assert not plan.outlives_run
    Pause.undo(plan)
    wait_until(lambda: answers(server.part.address), what="the process to go on", deadline=timedelta(seconds=20))


def test_one_that_goes_on_answering_was_not_paused(server: Server) -> None:
    acting = Pause(part="store").begin(context(server.part))
    assert answers(server.part.address, timedelta(seconds=20))  # it serves one after the other
    proof = acting.end()
    assert not proof.acted
    assert proof.did.endswith("and it answered requests all the same")


def test_the_undo_leaves_a_process_alone_that_got_the_same_id(server: Server) -> None:
    server.stop()
    Pause.undo(Undo(data={"pid": str(server.process.pid), "created": "1.00"}))
    assert psutil.Process(server.process.pid).status() == psutil.STATUS_STOPPED


def test_the_undo_of_a_process_that_is_gone_is_done() -> None:
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    Pause.undo(Undo(data={"pid": str(process.pid), "created": "1.00"}))


@pytest.mark.usefixtures("silent")
def test_one_that_is_silent_and_not_stopped_was_not_paused(server: Server) -> None:
    proof = Pause(part="store").begin(context(server.part)).end()
    assert not proof.acted
    assert proof.did.endswith("and it answered nothing")


def test_one_that_is_gone_was_not_paused(server: Server) -> None:
    acting = Pause(part="store").begin(context(server.part))
    server.process.kill()
    server.process.wait()
    proof = acting.end()
    assert not proof.acted
    assert proof.did.startswith(f"process {server.process.pid} was gone")


def test_its_time_is_that_of_the_part_and_not_of_the_proof(server: Server) -> None:
    server.stop()
    acting = Pause(part="store").begin(context(server.part))
    assert isinstance(acting, _Paused)
    resumed_at = iter([acting.since_s + 8.04])
    proof = replace(acting, clock=lambda: next(resumed_at)).end()
    assert proof.did.endswith(" for 8.0 s, and it answered nothing")
