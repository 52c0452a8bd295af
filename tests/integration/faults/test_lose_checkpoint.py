"""A checkpoint that is lost: a store made of a dictionary, and real processes in the place of a program's."""

import psutil
import pytest

from devkit.errors import StackError
from devkit.faults.fault import Undo
from devkit.faults.programs.lose_checkpoint import LoseCheckpoint
from devkit.guardian.processes import is_alive
from tests.integration.faults.conftest import Spawn
from tests.unit.devkit.faults.programs.test_lose_checkpoint import full, of
from tests.unit.devkit.observe.fake_s3 import FakeS3

ROOMS = ("devkit/faults",)


def test_the_program_is_killed_and_nothing_of_its_checkpoint_is_left(spawn: Spawn) -> None:
    store, processes, plans = full(FakeS3()), [spawn(), spawn()], list[Undo]()
    proof = LoseCheckpoint().begin(of(store, *processes, plans=plans)).end()
    assert proof.acted
    ids = ", ".join(str(process.pid) for process in processes)
    assert proof.did == f"killed {ids}; deleted 3 objects, and none was left"
    assert [is_alive(process) for process in processes] == [False, False]
    assert list(store.objects) == [("checkpoints", "fixed/y/metadata")]
    assert plans == [Undo(irreversible="the checkpoint is gone")]


def test_a_store_that_fails_does_not_leave_the_program_standing_still(spawn: Spawn) -> None:
    store, process = full(FakeS3()), spawn()
    store.broken = True
    with pytest.raises(StackError, match="checkpoint could not be"):
        LoseCheckpoint().begin(of(store, process))
    assert is_alive(process)
    assert process.status() != psutil.STATUS_STOPPED
