"""`devkit fault add | list | remove` on a part of a kept stack, and what undoes such a fault when its holder is gone.

Set-up: a kept stack without the pipeline. Checked: the real broker is silent meanwhile, and answers afterwards.
"""

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.faults.journal import Journal
from devkit.guardian.lease import journal_directory
from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.guardian.run_state import RunState, known_runs
from devkit.stack.parts.liveness import answers
from devkit.waiting import wait_until
from tests.integration.cli_run import devkit

ROOMS = ("devkit/faults", "devkit/guardian")
pytestmark = pytest.mark.slow  # the lease of a fault has to run out
DEADLINE = timedelta(seconds=60)
PAUSE, KILL = "{pause: {part: kafka}}", "{kill: {part: kafka}}"


class Kept:
    """A stack that is up."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id

    @property
    def state(self) -> RunState:
        (found,) = (run for run in known_runs() if run.run_id == self.run_id)
        return found

    @property
    def answers(self) -> bool:
        return answers(self.state.addresses["kafka"], DEADLINE / 60)

    def fault(self, *arguments: str) -> str:
        done = devkit("fault", *arguments, "--run-id", self.run_id)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def await_answer(self) -> None:
        wait_until(lambda: self.answers, what="the broker to answer again", deadline=DEADLINE)

    def await_no_fault(self) -> None:
        wait_until(lambda: not Journal(self.run_id).pages(), what="the fault to be undone", deadline=DEADLINE)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """One stack for all tests of the module."""
    started = devkit("up", "--no-pipeline", "--out", str(tmp_path_factory.mktemp("up")))
    assert started.returncode == 0, started.stderr
    (state,) = (run for run in known_runs() if run.run_id in started.stdout + started.stderr)
    yield Kept(state.run_id)
    ended = devkit("down", "--run-id", state.run_id)
    assert ended.returncode == 0, ended.stderr


def test_one_ends_after_its_time(up: Kept) -> None:
    assert f"stack {up.run_id}: pause-kafka is effective" in up.fault("add", "--do", PAUSE, "--for", "8s")
    assert not up.answers
    listed = up.fault("list")
    assert "pause-kafka: for " in listed
    assert "do pause: {part: kafka}" in listed
    up.await_no_fault()
    assert up.answers
    assert f"stack {up.run_id}: 0 faults" in up.fault("list")


def test_its_removal_ends_it(up: Kept) -> None:
    up.fault("add", "--do", PAUSE, "--name", "still")
    assert not up.answers
    assert up.fault("remove", "still") == f"stack {up.run_id}: still is removed\n"
    assert up.answers


def test_a_broker_that_was_killed_is_started_again(up: Kept) -> None:
    (before,) = (place.pid for place in up.state.parts if place.name == "kafka")
    up.fault("add", "--do", KILL, "--for", "2s")
    up.await_no_fault()
    up.await_answer()
    (now,) = (place.pid for place in up.state.parts if place.name == "kafka")
    assert now != before


def test_the_guardian_undoes_one_whose_holder_was_killed(up: Kept) -> None:
    up.fault("add", "--do", PAUSE)
    (page,) = Journal(up.run_id).pages()
    assert page.entry.holder is not None
    os.kill(page.entry.holder, signal.SIGKILL)
    assert not up.answers
    up.await_no_fault()
    assert up.answers


def test_heal_after_guardian_and_holder_were_killed(up: Kept, tmp_path: Path) -> None:
    """The last of the module, as nothing is left of the stack."""
    up.fault("add", "--do", PAUSE, "--name", "left")
    up.fault("add", "--do", "{add_partitions: {topic: nowhere, partitions: 3}}", "--at", "1h", "--name", "never")
    state = up.state
    holders = [page.entry.holder for page in Journal(up.run_id).pages()]
    for pid in (*holders, state.guardian_pid):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not state.guardian_is_alive(), what="the guardian to be gone", deadline=DEADLINE)
    healed = devkit("heal")
    assert f"ended what was left of run {up.run_id}" in healed.stdout
    assert f"undone fault left of run {up.run_id} (pause: {{part: kafka}})" in healed.stdout
    assert marked(RUN_VARIABLE, up.run_id) == []
    assert not journal_directory(up.run_id).exists()
    assert up.run_id not in {run.run_id for run in known_runs()}
