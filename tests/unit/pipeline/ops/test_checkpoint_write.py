"""Forks and set positions, on copies of a recorded checkpoint."""

import json
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.checkpoint_write import RECENT, fork, lost_before, require_stopped, set_beside, set_in_place
from pipeline.ops.files import CheckpointFiles
from pipeline.ops.spark_checkpoint import damages, inspect_checkpoint, last_written
from pipeline.state.initial_state import require_complete
from tests.unit.pipeline.ops.places import NOW, QUERY_ID, STOPPED, TOPIC, checkpoint_at, contents, files_at, recorded

NEW_ID = uuid.UUID(int=7)


def test_a_fork_is_the_same_position_under_another_id(tmp_path: Path) -> None:
    made = fork(files_at(STOPPED), files_at(tmp_path / "fork"), NEW_ID)
    assert (made.query_id, made.files) == (str(NEW_ID), 8)
    copy, original = contents(tmp_path / "fork"), contents(STOPPED)
    assert json.loads(copy.pop("metadata"))["id"] == str(NEW_ID) != QUERY_ID
    del original["metadata"]
    assert copy == original


def test_a_fork_of_a_job_in_a_batch_would_run_it_too(tmp_path: Path) -> None:
    fork(files_at(recorded(tmp_path, without=("commits/2",))), files_at(tmp_path / "fork"), NEW_ID)
    assert not checkpoint_at(tmp_path / "fork").is_committed
    assert checkpoint_at(tmp_path / "fork").committed() == {TOPIC: {0: 16}}


STATE = ("state/0/_metadata/metadata", "state/0/1/3.zip", "state/0/1/SSTs/12-a.sst", "state/0/1/entity/3_a.changelog")
LATER = ("state/0/1/4.zip", "state/0/1/entity/4_a.changelog", "state/0/1/10.changelog")


def with_state(place: Path) -> Path:
    for name in (*STATE, *LATER):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"x")
    return place


@pytest.mark.parametrize(("without", "left_out"), [((), LATER), (("commits/2",), (*LATER, *STATE[1::2]))])
def test_a_fork_has_the_committed_state(tmp_path: Path, without: tuple[str, ...], left_out: tuple[str, ...]) -> None:
    place = with_state(recorded(tmp_path, without=without))
    fork(files_at(place), files_at(tmp_path / "fork"), NEW_ID)
    assert contents(place).keys() - contents(tmp_path / "fork").keys() == set(left_out)


@dataclass
class BrokenOff:
    """Takes so many files."""

    files: CheckpointFiles
    remaining: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def write(self, name: str, content: bytes) -> None:
        if not self.remaining:
            raise PipelineError("the store does not answer")
        self.remaining -= 1
        self.files.write(name, content)


@pytest.mark.parametrize("written", range(len(contents(STOPPED)) + len(STATE) - 1))
def test_no_job_begins_with_a_fork_that_broke_off(tmp_path: Path, written: int) -> None:
    target = files_at(tmp_path / "fork")
    with pytest.raises(PipelineError, match="does not answer"):
        fork(files_at(with_state(recorded(tmp_path))), BrokenOff(target, written), NEW_ID)
    copy = inspect_checkpoint(target)
    if copy.entries and not copy.commits and "state" in copy.entries:
        with pytest.raises(RefusedError, match="its copy has not ended"):
            require_complete(copy.entries, copy.place, has_position=copy.has_position)
    assert damages(target, copy, has_state=True) or not (copy.has_position or copy.commits)


def test_a_place_that_holds_something_is_refused(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    before = contents(place)
    with pytest.raises(RefusedError, match="is not empty: it holds 8 files, the first commits/0"):
        fork(files_at(STOPPED), files_at(place), NEW_ID)
    with pytest.raises(RefusedError, match="is not empty"):
        set_beside(files_at(place), checkpoint_at(STOPPED), {TOPIC: {0: 3}}, NEW_ID)
    assert contents(place) == before


def test_a_place_within_the_checkpoint_is_refused(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    before = contents(place)
    for inside in (place / "sub", place / "a" / "b", tmp_path / "x" / ".." / "checkpoint" / "sub"):
        with pytest.raises(RefusedError, match="is inside checkpoint"):
            fork(files_at(place), files_at(inside), NEW_ID)
    assert contents(place) == before
    fork(files_at(place), files_at(tmp_path / "checkpoint-2"), NEW_ID)


@pytest.mark.parametrize("without", [(), ("commits/2",)])
def test_a_position_is_set_without_changing_what_was(tmp_path: Path, without: tuple[str, ...]) -> None:
    place = recorded(tmp_path, without=without)
    before = contents(place)
    assert set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 3, 1: 9}}) == 3
    after = contents(place)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"offsets/3", "commits/3"}
    found = checkpoint_at(place)
    assert found.is_committed
    assert found.committed() == {TOPIC: {0: 3, 1: 9}}
    assert found.last is not None
    assert found.query_id == QUERY_ID


def test_a_driver_that_planned_meanwhile_keeps_its_batch(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    seen = checkpoint_at(place)
    files_at(place).write("offsets/3", b"a driver's")
    with pytest.raises(RefusedError, match="offsets/3 is there already"):
        set_in_place(files_at(place), seen, {TOPIC: {0: 3}})
    assert "commits/3" not in contents(place)


def test_a_new_checkpoint_beside_the_old_one(tmp_path: Path) -> None:
    set_beside(files_at(tmp_path / "new"), checkpoint_at(STOPPED), {TOPIC: {0: 3}}, NEW_ID)
    found = checkpoint_at(tmp_path / "new")
    assert (found.query_id, found.batches, found.commits) == (str(NEW_ID), (0,), (0,))
    assert found.committed() == {TOPIC: {0: 3}}


def test_without_a_batch_there_is_nothing_to_set(tmp_path: Path) -> None:
    logs = tuple(f"{log}/{number}" for log in ("offsets", "commits") for number in (0, 1, 2))
    place = recorded(tmp_path, without=logs)
    with pytest.raises(RefusedError, match="has no batch yet"):
        set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 3}})


def test_a_checkpoint_that_was_just_written_may_be_of_a_running_job() -> None:
    written = last_written(files_at(STOPPED))
    with pytest.raises(RefusedError, match="was written 59 s ago") as caught:
        require_stopped("here", written, written + timedelta(seconds=59))
    assert "--stopped" in str(caught.value.hint)
    with pytest.raises(RefusedError, match="was written 0 s ago"):
        require_stopped("here", written, written - timedelta(hours=1))
    require_stopped("here", written, written + RECENT)


@pytest.mark.parametrize(
    ("offset", "oldest_ms", "lost"),
    [
        (10, {0: int(NOW.timestamp() * 1000) + 1}, True),
        (10, {0: int(NOW.timestamp() * 1000)}, False),
        (11, {0: int(NOW.timestamp() * 1000) + 1}, False),
        (10, {}, False),
    ],
    ids=["begins later", "begins then", "begins earlier", "is whole"],
)
def test_what_retention_has_taken_is_said(offset: int, oldest_ms: dict[int, int], lost: bool) -> None:
    assert bool(lost_before({0: offset}, {0: 10}, oldest_ms, NOW)) == lost
