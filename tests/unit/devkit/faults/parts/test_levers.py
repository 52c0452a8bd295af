"""`pause`, `kill` and `restart` on parts of values, and on a process that answers."""

import math
import select
import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.docker.access import DockerAccess
from devkit.errors import SetupError, StackError
from devkit.faults.fault import Fault, Undo
from devkit.faults.parts.kill import Kill
from devkit.faults.parts.pause import Pause
from devkit.faults.parts.restart import Restart
from devkit.guardian.run_state import RunState
from devkit.stack.parts.liveness import LivenessProbe, answers
from devkit.waiting import wait_until
from tests.unit.devkit.faults.fakes import FakeLife, FakePart, context


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that answers nothing while a fault lasts."""
    monkeypatch.setattr("devkit.faults.parts.pause.LivenessProbe.is_answered", lambda _probe: False)


class TestPause:
    @pytest.mark.usefixtures("silent")
    @pytest.mark.parametrize("status", ["paused", "exited"])
    def test_a_container_is_known_by_its_id_and_the_engine_says_how_it_is(
        self, status: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("devkit.faults.parts.pause._engine_of", lambda _run: None)
        states = {"c1": status}
        monkeypatch.setattr("devkit.faults.parts.pause.container_state", lambda _engine, container: states[container])
        part = FakePart(life=FakeLife(pid=None, container="c1"))
        plans: list[Undo] = []
        acting = Pause(part="kafka").begin(context(part, plan=plans.append, is_guest=True))
        assert plans == [Undo(data={"container": "c1", "run": ""}, outlives_run=True)]
        proof = acting.end()
        did = f"container c1 was {status} for 0.0 s, and it answered nothing"
        assert (proof.acted, proof.did) == (status == "paused", did)

    @pytest.mark.usefixtures("silent")
    @pytest.mark.starts_process("the docker command is a script that gives the answers")
    def test_a_container_is_looked_at_and_resumed_by_the_engine_of_its_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DOCKER_HOST", "unix:///of-another")
        asked, command = tmp_path / "asked", tmp_path / "docker"
        command.write_text(f'#!/bin/sh\necho "$DOCKER_HOST $1 $2" >> {asked}\necho paused\n')
        command.chmod(0o755)
        access = DockerAccess(command=str(command), environment={"DOCKER_HOST": "unix:///of-the-run"})
        for run_id, docker in (("of-processes", None), ("run1", access)):
            RunState(run_id=run_id, guardian_pid=1, guardian_started=1, directory=tmp_path, docker=docker).save()
        part = FakePart(life=FakeLife(pid=None, container="c1"))
        plans: list[Undo] = []
        acting = Pause(part="kafka").begin(replace(context(part, plan=plans.append), run_id="run1"))
        assert acting.end().acted
        Pause.undo(plans[0])
        orders = ("ls", "ls", "unpause")
        assert asked.read_text().splitlines() == [f"unix:///of-the-run container {order}" for order in orders]

    @pytest.mark.usefixtures("silent")
    @pytest.mark.parametrize("error", [SetupError("no docker"), StackError("no engine")])
    def test_a_container_goes_on_also_where_nobody_can_look_at_it(
        self, error: Exception, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unknown(_run_id: str) -> DockerAccess:
            raise error

        monkeypatch.setattr("devkit.faults.parts.pause._engine_of", unknown)
        part = FakePart(life=FakeLife(pid=None, container="c1"))
        proof = Pause(part="kafka").begin(context(part)).end()
        assert (proof.acted, str(error) in proof.did, part.pulled) == (False, True, ["pause", "resume"])


def test_a_kill_shows_how_the_process_ended_and_starts_it_again() -> None:
    part = FakePart()
    acting = Kill(part="kafka").begin(context(part))
    assert part.pulled == ["kill"]
    proof = acting.end()
    assert proof.acted
    assert proof.did.startswith("it ended with signal 9, and was started again: away for 0.")
    assert part.pulled == ["kill", "restart"]


def test_a_restart_shows_a_new_process() -> None:
    proof = Restart(part="kafka").begin(context(FakePart())).end()
    assert (proof.acted, proof.did) == (True, "the process of before ended with code 0, and a new one answers")


@pytest.mark.parametrize("fault", [Kill(part="kafka"), Restart(part="kafka")])
def test_a_process_that_did_not_end_proves_nothing(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePart, "pull", lambda _self, _lever: None)
    assert not fault.begin(context(FakePart())).end().acted


@pytest.mark.parametrize(
    ("fault", "levers"),
    [(Pause(part="p"), {"pause", "resume"}), (Kill(part="p"), {"kill", "restart"}), (Restart(part="p"), {"restart"})],
)
def test_each_asks_for_its_levers(fault: Fault, levers: set[str]) -> None:
    assert {need.lever for need in fault.needs()} == levers
    assert {need.part for need in fault.needs()} == {"p"}


class TestAnswers:
    def test_a_broker_is_asked_in_its_own_words(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]},127.0.0.1:1"
            assert not answers(address, timedelta(milliseconds=50))
            heard = listener.accept()[0].recv(100)
            assert heard == bytes.fromhex("0000000a 0012 0000 00000001 ffff")

    def test_a_question_is_asked_at_once_and_waits_for_nothing(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            silent, answered = LivenessProbe(address), LivenessProbe(address)
            for connection in (listener.accept()[0] for _ in range(2)):
                assert connection.recv(100).startswith(b"\0\0\0\x0a\0\x12")
            connection.sendall(b"x")  # the second alone
            wait_until(
                lambda: select.select([answered._connection], [], [], 0)[0],
                what="the answer to arrive",
                deadline=timedelta(seconds=20),
            )
            assert (silent.is_answered(), answered.is_answered()) == (False, True)

    def test_nobody_there_is_no_answer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        assert not answers(f"127.0.0.1:{port}")
        assert not LivenessProbe(f"http://127.0.0.1:{port}").is_answered()


@pytest.mark.parametrize("dead", [Kill, Restart])
def test_the_other_brokers_answer_for_a_dead_one_and_nobody_for_a_part_that_is_alone(dead: type[Fault]) -> None:
    assert dead.model_validate({"part": "kafka-2"}).blinds_s() < math.inf
    assert dead.model_validate({"part": "kafka"}).blinds_s() == math.inf
    assert Pause(part="kafka-2").blinds_s() == math.inf
