from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import InvalidFileError, UsageError
from devkit.traffic.manifest import Manifest, ManifestEntry
from devkit.traffic.records import Expected, PageRef

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ENTRIES = st.builds(
    ManifestEntry,
    topic=TEXT,
    partition=st.integers(0, 100),
    offset=st.integers(0, 2**53),
    expected=st.builds(
        Expected,
        fate=st.sampled_from(["output", "error", "filtered"]),
        reason=st.none() | TEXT,
        event_id=st.none() | TEXT,
        page=st.none() | st.builds(PageRef, wiki=TEXT, page_id=st.integers(0, 2**53), title=TEXT),
        latest_revision=st.none() | st.integers(1, 2**53),
        parent_revision=st.none() | st.integers(1, 2**53),
    ),
)
LINE = '{"topic":"source","partition":0,"offset":3,"expected":{"fate":"filtered","reason":"canary"}}'


@given(entries=st.lists(ENTRIES, max_size=5))
def test_a_manifest_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, entries: list[ManifestEntry]
) -> None:
    path = tmp_path_factory.mktemp("manifest") / "manifest.jsonl"
    Manifest(tuple(entries)).write(path)
    assert Manifest.read(path) == Manifest(tuple(entries))


def test_a_line_is_compact_json(tmp_path: Path) -> None:
    path = tmp_path / "manifest.jsonl"
    entry = ManifestEntry(topic="source", partition=0, offset=3, expected=Expected(fate="filtered", reason="canary"))
    Manifest((entry,)).write(path)
    assert path.read_text(encoding="utf-8") == LINE + "\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "(top): invalid JSON"),
        (LINE.replace('"offset":3', '"offset":-3'), "offset: must be greater than or equal to 0 (got -3)"),
        (LINE.replace("filtered", "lost"), "expected.fate: must be 'output', 'error' or 'filtered' (got 'lost')"),
        (LINE.replace('"partition":0,', ""), "partition: is missing"),
    ],
)
def test_a_damaged_manifest_names_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "manifest.jsonl"
    path.write_text(f"{LINE}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        Manifest.read(path)
    assert str(caught.value).startswith(f"{path}:2:1: {problem}")


def test_a_missing_manifest_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no manifest"):
        Manifest.read(tmp_path / "manifest.jsonl")
