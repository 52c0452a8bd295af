"""Reading what Spark wrote, forks and set positions, on copies of a recorded checkpoint; what `verify` finds."""

import json
import re
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.driver.identity import require_checkpoint
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.checkpoint_commands import _AGAIN, problems
from pipeline.ops.checkpoint_write import RECENT, fork, lost_before, require_stopped, set_beside, set_in_place
from pipeline.ops.files import CheckpointFiles, LocalFiles
from pipeline.ops.source import Bounds
from pipeline.ops.spark_checkpoint import damages, inspect_checkpoint, last_written, lines, offsets_file
from pipeline.state.initial_state import require_complete
from tests.unit.pipeline.ops.places import (
    BOUNDS,
    NOW,
    QUERY_ID,
    STOPPED,
    TOPIC,
    checkpoint_at,
    contents,
    files_at,
    recorded,
    rewrite,
)

NEW_ID = uuid.UUID(int=7)


class RunningMeanwhile(LocalFiles):
    """A job commits two batches between the listing of commits/ and that of offsets/."""

    def __init__(self, place: Path, commits: dict[Path, bytes]) -> None:
        super().__init__(str(place), place)
        self._commits = commits

    def names(self, directory: str = "") -> dict[str, datetime]:
        if directory == "offsets":
            for path, content in self._commits.items():
                path.write_bytes(content)
        return super().names(directory)


def test_a_job_that_commits_meanwhile_damages_nothing(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    later = {place / "commits" / name: (place / "commits" / name).read_bytes() for name in ("1", "2")}
    for path in later:
        path.unlink()
    running = RunningMeanwhile(place, later)
    found = inspect_checkpoint(running)
    assert (found.commits, found.batches) == ((0,), (0, 1)), "as it was when the commits were listed"
    assert damages(running, found, has_state=False) == []
    assert checkpoint_at(place).batches == (0, 1, 2)


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
    with pytest.raises(RefusedError, match="is not empty: it holds commits, metadata, offsets and more"):
        fork(files_at(STOPPED), files_at(place), NEW_ID)
    with pytest.raises(RefusedError, match="is not empty"):
        set_beside(files_at(place), checkpoint_at(STOPPED), {TOPIC: {0: 3}}, NEW_ID)
    assert contents(place) == before


@pytest.mark.parametrize(("name", "is_free"), [("lost+found", True), (".snapshot", True), ("more", False)])
def test_a_place_with_an_empty_directory(tmp_path: Path, name: str, is_free: bool) -> None:
    """A job answers alike: it would not start from a copy beside the directory of another program."""
    target = tmp_path / "copy"
    (target / name).mkdir(parents=True)
    with nullcontext() if is_free else pytest.raises(RefusedError, match=r"is not empty: it holds more$"):
        fork(files_at(STOPPED), files_at(target), NEW_ID)
        require_checkpoint(files_at(target).entries(), "copy")


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


def found(place: Path, *, topic: str = TOPIC, bounds: Bounds = BOUNDS) -> str:
    """The one problem there is, or nothing."""
    wrong = problems(checkpoint_at(place), {topic: bounds})
    assert len(wrong) <= 1, wrong
    return "".join(wrong)


@pytest.mark.parametrize("without", [(), ("commits/2",), ("offsets/0", "commits/0"), ("sources/0/0",)])
def test_a_job_that_stopped_anywhere_can_continue(tmp_path: Path, without: tuple[str, ...]) -> None:
    assert found(recorded(tmp_path, without=without)) == ""


def test_so_can_one_whose_position_was_set(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 5}})
    assert found(place) == ""


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        (Bounds({0: 0}, {0: 19}), f"{TOPIC}/0/20 is behind the topic's end 19"),
        (Bounds({0: 0}, {0: 19}), "begin again at another checkpoint, with `run --new`"),
        (Bounds({1: 0}, {1: 20}), "begin again at another checkpoint, with `run --new`"),
        (Bounds({0: 23}, {0: 40}), f"{TOPIC}/0/20 is gone: retention has kept 23 and later, 3 events are lost"),
        (Bounds({1: 0}, {1: 20}), f"partition {TOPIC}/0 is not there"),
        (Bounds({0: 20}, {0: 20}), ""),
        (Bounds({0: 5, 1: 7}, {0: 21, 1: 9}), ""),
    ],
)
def test_what_the_broker_says(bounds: Bounds, why: str) -> None:
    reason = found(STOPPED, bounds=bounds)
    assert why in reason
    assert bool(reason) == bool(why)


def test_each_topic_is_held_to_what_the_broker_has_of_it(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 20}, "other": {0: 7}})
    topics = {TOPIC: BOUNDS, "other": Bounds({0: 0}, {0: 6})}
    assert problems(checkpoint_at(place), topics) == [
        f"other/0/7 is behind the topic's end 6: it is another cluster's, or the topic was made again; {_AGAIN}"
    ]
    assert problems(checkpoint_at(place), topics | {"other": Bounds({0: 0}, {0: 7})}) == []


def test_the_end_of_a_planned_batch_has_to_be_there_too(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    assert f"{TOPIC}/0/20 is behind the topic's end 18" in found(place, bounds=Bounds({0: 0}, {0: 18}))


def test_a_partition_that_only_the_planned_batch_knows_is_asked_for(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    rewrite(place, "offsets/2", '"0":20', '"0":20,"1":4')
    assert found(place, bounds=Bounds({0: 0, 1: 0}, {0: 20, 1: 4})) == ""
    assert f"partition {TOPIC}/1 is not there" in found(place)


def test_a_job_that_stopped_after_its_commit() -> None:
    found = checkpoint_at(STOPPED)
    assert found.query_id == QUERY_ID
    assert (found.batches, found.commits) == ((0, 1, 2), (0, 1, 2))
    assert found.start == {TOPIC: {0: 0}}
    assert found.is_committed
    assert found.committed() == {TOPIC: {0: 20}}
    assert found.last is not None
    assert found.last.at.date() == datetime(2026, 11, 21, tzinfo=UTC).date()


def test_it_does_not_matter_which_source_wrote_the_offsets(tmp_path: Path) -> None:
    """A Python source's are written with spaces."""
    place = recorded(tmp_path)
    rewrite(place, "offsets/2", f'{{"{TOPIC}":{{"0":20}}}}', f'{{"{TOPIC}": {{"0": 20}}}}')
    assert checkpoint_at(place).committed() == checkpoint_at(STOPPED).committed()


LOGS = tuple(f"{log}/{number}" for log in ("offsets", "commits") for number in (0, 1, 2))
LATER_LOGS = ("offsets/1", "offsets/2", "commits/0", "commits/1", "commits/2")


@pytest.mark.parametrize(
    ("without", "is_committed", "committed", "planned"),
    [
        pytest.param(("commits/2",), False, 16, 20, id="stopped in a batch"),
        pytest.param(LATER_LOGS, False, 0, 8, id="stopped in its first batch"),
        pytest.param(LOGS, True, 0, None, id="planned nothing yet"),
        # Spark forgets old batches, and the last remain.
        pytest.param(("offsets/0", "commits/0", "sources/0/0"), True, 20, 20, id="old batches forgotten"),
    ],
)
def test_where_a_job_has_stopped(
    tmp_path: Path, without: tuple[str, ...], is_committed: bool, committed: int, planned: int | None
) -> None:
    found = checkpoint_at(recorded(tmp_path, without=without))
    assert (found.is_committed, found.committed()) == (is_committed, {TOPIC: {0: committed}})
    assert (found.last and found.last.ends) == (planned and {TOPIC: {0: planned}})
    assert ("batches     none is planned" in list(lines(found, NOW))) == (planned is None)
    assert (found.start is None) == ("sources/0/0" in without)


def test_a_job_that_unites_streams_has_a_line_for_each(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    rewrite(place, "offsets/2", f'{{"{TOPIC}"', f'-\n{{"links":{{"0":7}}}}\n{{"{TOPIC}"')
    assert checkpoint_at(place).committed() == {"links": {0: 7}, TOPIC: {0: 20}}


def test_what_is_shown(tmp_path: Path) -> None:
    text = "\n".join(lines(checkpoint_at(recorded(tmp_path, without=("commits/2",))), NOW))
    assert f"query id    {QUERY_ID}" in text
    assert "batches     0 to 2; 2 is planned and not committed: it will be run again (2026-11-21T" in text
    assert text.splitlines()[-1].split() == [TOPIC, "0", "16", "20"]
    text = "\n".join(lines(checkpoint_at(STOPPED), NOW))
    assert "2 is committed" in text
    assert text.splitlines()[-1].split() == [TOPIC, "0", "20", "-"]


def test_an_id_that_is_missing_is_shown_as_such(tmp_path: Path) -> None:
    found = checkpoint_at(recorded(tmp_path, without=("metadata",)))
    assert "the file metadata is missing" in "\n".join(lines(found, NOW))


@pytest.mark.parametrize("empty", [lambda path: path, lambda path: path / "nowhere"], ids=["empty", "missing"])
def test_no_checkpoint_is_an_error_that_lists_the_choices(empty: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="holds no position") as caught:
        checkpoint_at(empty(tmp_path))
    assert "earliest" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("offsets/2", "v1", "v2", "begins with 'v2', not with v1"),
        ("offsets/2", '{"0":20}', '{"0":-1}', "greater than or equal to 0"),
        ("offsets/2", '{"0":20}', "[20]", rf"{re.escape(TOPIC)}: must be a mapping of keys to values"),
        ("offsets/2", f'{{"{TOPIC}":{{"0":20}}}}', "x", "invalid JSON"),
        ("offsets/2", '"batchTimestampMs"', '"other"', "batchTimestampMs: is missing"),
        ("metadata", '"id"', '"other"', "id: is missing"),
        ("sources/0/0", f'\n{{"{TOPIC}":{{"0":0}}}}', "", "breaks off"),
        # As of a full disk
        ("offsets/2", (STOPPED / "offsets" / "2").read_text(), "", "is not in the form"),
    ],
)
def test_what_is_not_in_sparks_form_is_named(tmp_path: Path, name: str, old: str, new: str, why: str) -> None:
    place = recorded(tmp_path)
    rewrite(place, name, old, new)
    with pytest.raises(RefusedError, match=why) as caught:
        checkpoint_at(place)
    assert f"{name} is not in the form" in str(caught.value)
    # Nothing else that is done to this checkpoint comes further.
    assert "at another checkpoint, with `run --new`" in str(caught.value.hint)


@given(st.dictionaries(st.integers(0, 10_000), st.integers(0, 2**62)))
def test_offsets_are_written_as_read(tmp_path_factory: pytest.TempPathFactory, offsets: dict[int, int]) -> None:
    place = recorded(tmp_path_factory.mktemp("any"))
    facts = checkpoint_at(place).last
    assert facts is not None
    (place / "offsets" / "3").write_bytes(offsets_file(facts.facts, {TOPIC: offsets}))
    (place / "commits" / "3").write_bytes(b"")
    assert checkpoint_at(place).committed() == {TOPIC: offsets}


def test_a_file_is_written_byte_by_byte_as_spark_does() -> None:
    last = checkpoint_at(STOPPED).last
    assert last is not None
    assert offsets_file(last.facts, last.ends) == (STOPPED / "offsets" / "2").read_bytes()
