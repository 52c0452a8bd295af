"""Reading what Spark wrote."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import RefusedError
from pipeline.ops.spark_checkpoint import lines, offsets_file
from tests.unit.pipeline.ops.places import NOW, QUERY_ID, STOPPED, TOPIC, checkpoint_at, recorded, rewrite


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
LATER = ("offsets/1", "offsets/2", "commits/0", "commits/1", "commits/2")


@pytest.mark.parametrize(
    ("without", "is_committed", "committed", "planned"),
    [
        pytest.param(("commits/2",), False, 16, 20, id="stopped in a batch"),
        pytest.param(LATER, False, 0, 8, id="stopped in its first batch"),
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
