"""Faults on parts that are containers: by a run's own levers, and by hand on a stack that stays up.

Set-up: the compose stack. Step: a fault. Checked: what the part does meanwhile, and that it works again at the end.
"""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta

import psutil
import pytest
from kafka import KafkaProducer

from devkit.faults.do import parse_do
from devkit.faults.fault import Context
from devkit.guardian import Guardian
from devkit.guardian.run_state import PartPlace, RunState, known_runs
from devkit.stack.parts.liveness import answers
from devkit.stack.registry import start_stack
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun
from tests.integration.docker.conftest import Docker
from tests.integration.docker.engine import TestEngine
from tests.integration.docker.test_compose import of_run

ROOMS = ("devkit/docker", "devkit/faults", "devkit/stack")
DEADLINE_S = 60.0
UNDONE = timedelta(seconds=60)
Cli = Callable[..., CliRun]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stack(docker_engine: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Guardian() as guardian:
        yield start_stack("compose", guardian, tmp_path_factory.mktemp("stack"))


@pytest.mark.parametrize(
    ("fault", "did"),
    [
        ("pause", r"was paused for \d+\.\d s, and it answered nothing"),
        ("kill", "it ended with exit code 137, and was started again: away for .* s of them its start"),
        ("restart", "and a new one answers"),
    ],
)
def test_a_broker_has_its_records_after_the_fault(stack: Stack, fault: str, did: str) -> None:
    recreate_topics(stack.kafka.direct, {"faulty": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("faulty", b"before").get(DEADLINE_S)
        acting = parse_do({fault: {"part": "kafka"}}).begin(
            Context(stack.parts, stack.kafka.direct, lambda _undo: None)
        )
        assert answers(stack.kafka.bootstrap) == (fault == "restart")
        proof = acting.end()
        assert proof.acted
        assert re.search(f"{did}$", proof.did), proof.did
        assert producer.send("faulty", b"after").get(DEADLINE_S).offset >= 1
    stack.require_running()


@pytest.fixture
def kept(devkit_cli: Cli, docker: Docker) -> Iterator[RunState]:
    """A stack that stays up, known by its state alone."""
    up = devkit_cli("up", "--stack", "compose", "--no-pipeline")
    assert up.wait(180) == 0, up.output()
    (run,) = [one for one in known_runs() if f"stack {one.run_id} stays up" in up.output()]
    yield run
    down = devkit_cli("down", "--run-id", run.run_id, out=False)
    assert down.wait(120) == 0, down.output()
    assert of_run(docker, run.run_id) == []


def test_by_hand_a_container_is_paused_until_its_holder_lets_go(
    devkit_cli: Cli, docker: Docker, kept: RunState
) -> None:
    store = part(kept, "object-store")

    def is_paused() -> bool:
        return docker("inspect", "--format", "{{.State.Paused}}", str(store.container)).strip() == "true"

    def fault(*words: str) -> str:
        run = devkit_cli("fault", *words, "--run-id", kept.run_id, out=False)
        assert run.wait(60) == 0, run.output()
        return run.output()

    fault("add", "--do", "{pause: {part: object-store}}", "--name", "still")
    assert is_paused()
    assert not answers(store.address)
    assert "still" in fault("list")
    fault("remove", "still")
    assert not is_paused()
    assert answers(store.address)

    # Nobody is left who would end it: the guardian does.
    fault("add", "--do", "{pause: {part: object-store}}", "--name", "abandoned")
    (holder,) = [one for one in psutil.process_iter() if holds(one, kept.run_id)]
    holder.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_paused(), what="the guardian to let the container go on", deadline=UNDONE)

    refused = devkit_cli("fault", "add", "--do", "{kill: {part: kafka}}", "--run-id", kept.run_id, out=False)
    assert refused.wait(60) == 2
    assert "by the run that made it" in " ".join(refused.output().split())


def part(run: RunState, name: str) -> PartPlace:
    return next(one for one in run.parts if one.name == name)


def holds(process: psutil.Process, run_id: str) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return "devkit.faults.holder" in words and run_id in words
