import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.traffic.capture.capture_file import (
    CapturedRecord,
    CaptureSource,
    CaptureWriter,
    Unparsed,
    read_capture,
)

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SOURCE = CaptureSource.model_validate(
    {"kafka": "127.0.0.1:9092", "topics": {"changes": 2}, "from": "latest", "began": NOW, "ended": NOW}
)
GOOD = CapturedRecord(
    topic="changes", partition=0, offset=17, timestamp_ms=5, key="k", bytes=9, event={"a": [1, None, "x"]}
)
BROKEN = CapturedRecord(
    topic="changes",
    partition=1,
    offset=0,
    timestamp_ms=6,
    key=None,
    bytes=7,
    unparsed=Unparsed(digest="00", reason="is no JSON"),
)


def written(path: Path, *records: CapturedRecord) -> Path:
    with CaptureWriter(path) as writer:
        for record in records:
            writer.add(record)
        writer.finish(SOURCE, "time", text_kept=False, fields={"comment": 3})
    return path


def changed(path: Path, line: int, text: str) -> Path:
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    null = GOOD.model_copy(update={"event": None})
    found = read_capture(written(tmp_path / "c.jsonl", GOOD, BROKEN, null))
    assert found.records == (GOOD, BROKEN, null)
    assert found.header.source == SOURCE
    counts = found.header.counts
    assert (counts.events, counts.unparsed, counts.bytes) == (3, 1, 25)
    assert counts.by_partition == {"changes/0": 2, "changes/1": 1}
    assert found.header.replaced.fields == {"comment": 3}


def test_only_its_owner_can_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_without_an_end_there_is_no_file(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "c.jsonl") as writer:
        writer.add(GOOD)
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_written_over(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    with pytest.raises(UsageError, match="is there already"):
        CaptureWriter(path)
    with pytest.raises(UsageError, match="cannot be written"):
        CaptureWriter(tmp_path / "no" / "c.jsonl")


HEADER: dict[str, Any] = {"devkit_capture": 2}


@pytest.mark.parametrize(
    ("line", "text", "problem"),
    [
        (2, "{", r"c.jsonl:2:2: is not JSON"),
        (2, orjson.dumps(GOOD.model_dump(exclude={"offset", "unparsed"})).decode(), r"c.jsonl:2:1: offset: is missing"),
        (3, '{"topic": "t", "partition": -1}', r"c.jsonl:3:1: partition: .*got -1"),
        (3, orjson.dumps(GOOD.model_dump(exclude={"event", "unparsed"})).decode(), r"3:1: .*event and unparsed"),
        (
            2,
            orjson.dumps(GOOD.model_dump(exclude={"unparsed"}) | {"timestamp_ms": 10**17}).decode(),
            r"c.jsonl:2:1: time",
        ),
        (1, '{"devkit_capture": 1}', r"c.jsonl:1:1: source: is missing"),
        (1, "", r"c.jsonl:1:1: is not JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: int, text: str, problem: str) -> None:
    path = changed(written(tmp_path / "c.jsonl", GOOD, GOOD), line, text)
    with pytest.raises(InvalidFileError, match=problem):
        read_capture(path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    header = path.read_text().splitlines()[0].replace('"devkit_capture":1', '"devkit_capture":2')
    with pytest.raises(InvalidFileError, match=r"version 2 of the format is not known, version 1 is; take .* anew"):
        read_capture(changed(path, 1, header))


def test_a_file_that_was_cut_off_is_seen(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD, GOOD)
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:2]))
    with pytest.raises(InvalidFileError, match="has 1 records, and its header counts 2"):
        read_capture(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the capture .*c.jsonl cannot be read: No such file"):
        read_capture(tmp_path / "c.jsonl")
