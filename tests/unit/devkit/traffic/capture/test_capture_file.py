import stat
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from devkit.errors import DevkitError, InvalidFileError, UsageError
from devkit.traffic.capture.capture_file import CapturedRecord, CaptureSource, Unparsed
from devkit.traffic.capture.capture_reader import CaptureReader, records_at
from devkit.traffic.capture.capture_writer import CaptureWriter, finish_killed
from tests.unit.devkit.traffic.capture.captures import read_capture

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SOURCE = CaptureSource.model_validate(
    {"kafka": "127.0.0.1:9092", "topics": {"changes": 2}, "from": "latest", "began": NOW}
)
GOOD = CapturedRecord(
    topic="changes", partition=0, offset=17, timestamp_ms=5, key="k", bytes=9, event={"a": [1, None, "x"]}
)
UNPARSED = Unparsed(digest="00", reason="is no JSON")
BROKEN = CapturedRecord(topic="changes", partition=1, offset=0, timestamp_ms=6, key=None, bytes=7, unparsed=UNPARSED)


def a_writer(path: Path) -> CaptureWriter:
    return CaptureWriter(path, SOURCE, text_kept=False)


def written(path: Path, *records: CapturedRecord) -> Path:
    with a_writer(path) as writer:
        for record in records:
            writer.add(record)
        writer.finish("time", {"comment": 3})
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
    counts = found.end.counts
    assert (counts.events, counts.unparsed, counts.bytes) == (3, 1, 25)
    assert counts.by_partition == {"changes/0": 2, "changes/1": 1}
    assert (found.end.ended_by, found.end.replaced) == ("time", {"comment": 3})


def test_only_its_owner_can_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_each_record_is_in_the_file_as_it_comes(tmp_path: Path) -> None:
    part = tmp_path / "c.jsonl.part"
    with a_writer(tmp_path / "c.jsonl") as writer:
        writer.add(GOOD)
        writer.flush()
        assert orjson.loads(part.read_bytes().splitlines()[1])["offset"] == 17
        assert writer.bytes == part.stat().st_size
        writer.finish("time", {})
    assert not part.exists()


def test_it_does_not_become_larger_than_it_may(tmp_path: Path) -> None:
    most = 1 << 17
    with CaptureWriter(tmp_path / "c.jsonl", SOURCE, text_kept=False, most_bytes=most) as writer:
        while not writer.is_full:
            writer.add(GOOD)
        writer.finish("size", {f"{'place' * 20}{number}": number for number in range(500)})
    found = read_capture(tmp_path / "c.jsonl")
    assert len(found.records) > 100
    assert most / 2 < (tmp_path / "c.jsonl").stat().st_size <= most


class TestUnfinished:
    def test_what_was_written_stays_and_says_that_it_is_unfinished(self, tmp_path: Path) -> None:
        part = tmp_path / "c.jsonl.part"
        with pytest.raises(KeyboardInterrupt), a_writer(tmp_path / "c.jsonl") as writer:  # noqa: PT012
            writer.add(GOOD)
            raise KeyboardInterrupt
        assert list(tmp_path.iterdir()) == [part]
        with pytest.raises(InvalidFileError, match=r"part:3:1: is unfinished: after 1 record it has no line") as raised:
            read_capture(part)
        assert raised.value.hint == f"if its capture was killed, `devkit capture --finish {part}` makes it whole"

    def test_it_can_be_made_whole(self, tmp_path: Path) -> None:
        part = tmp_path / "c.jsonl.part"
        with a_writer(tmp_path / "c.jsonl") as writer:
            writer.add(GOOD)
            writer.add(BROKEN)
        part.write_bytes(part.read_bytes() + b'{"topic": "chan')  # killed while it wrote
        assert finish_killed(part) == (tmp_path / "c.jsonl", 2)
        found = read_capture(tmp_path / "c.jsonl")
        assert found.records == (GOOD, BROKEN)
        assert (found.end.ended_by, found.end.counts.events, found.end.replaced) == ("kill", 2, None)
        assert list(tmp_path.iterdir()) == [tmp_path / "c.jsonl"]

    def test_one_that_was_killed_after_its_end_keeps_it(self, tmp_path: Path) -> None:
        whole = written(tmp_path / "c.jsonl", GOOD)
        part = whole.rename(tmp_path / "c.jsonl.part")
        assert finish_killed(part) == (whole, 1)
        assert read_capture(whole).end.ended_by == "time"

    def test_without_a_record_there_is_no_file(self, tmp_path: Path) -> None:
        with a_writer(tmp_path / "c.jsonl"):
            pass
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("name", "text", "problem"),
        [
            ("c.jsonl", "", r"does not end with \.part"),
            ("none.jsonl.part", None, "cannot be read: No such file"),
            ("empty.jsonl.part", "", "has no header"),
            ("other.jsonl.part", '{"a": 1}\n', r"part:1: is no line of a capture"),
            ("two.jsonl.part", "x", "two.jsonl is there already"),
        ],
    )
    def test_what_cannot_be_made_whole_says_why(
        self, tmp_path: Path, name: str, text: str | None, problem: str
    ) -> None:
        if text is not None:
            (tmp_path / name).write_text(text)
        (tmp_path / "two.jsonl").touch()
        with pytest.raises(UsageError, match=problem):
            finish_killed(tmp_path / name)


def test_no_file_is_written_over(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    with pytest.raises(UsageError, match="is there already"):
        a_writer(path)
    (tmp_path / "d.jsonl.part").touch()
    with pytest.raises(UsageError, match=r"d.jsonl.part is there already") as raised:
        a_writer(tmp_path / "d.jsonl")
    assert "--finish" in str(raised.value.hint)
    with pytest.raises(DevkitError, match="cannot be written: No such file"):
        a_writer(tmp_path / "no" / "c.jsonl")


def test_a_disk_that_is_full_is_named(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with a_writer(tmp_path / "c.jsonl") as writer:
        writer._file.close()
        writer._file = full.open("wb", buffering=0)
        with pytest.raises(DevkitError, match="cannot be written: No space left") as raised:
            writer.add(GOOD)
    assert "free some space" in str(raised.value.hint)


def line_of(*, without: frozenset[str] = frozenset(), **changes: int) -> str:
    return orjson.dumps(GOOD.model_dump(exclude={*without, "unparsed"}) | changes).decode()


@pytest.mark.parametrize(
    ("line", "text", "problem"),
    [
        (2, "{", r"c.jsonl:2:2: is not JSON"),
        (2, line_of(without=frozenset({"offset"})), r"c.jsonl:2:1: offset: is missing"),
        (3, '{"topic": "t", "partition": -1}', r"c.jsonl:3:1: partition: .*got -1"),
        (3, line_of(without=frozenset({"event"})), r"3:1: .*event and unparsed"),
        (2, line_of(timestamp_ms=10**17), r"c.jsonl:2:1: time"),
        (1, '{"devkit_capture": 2}', r"c.jsonl:1:1: source: is missing"),
        (4, '{"ended_by":"boredom"}', r"c.jsonl:4:1: ended_by: .*got 'boredom'"),
        (1, "", r"c.jsonl:1:1: is not JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: int, text: str, problem: str) -> None:
    path = changed(written(tmp_path / "c.jsonl", GOOD, GOOD), line, text)
    with pytest.raises(InvalidFileError, match=problem):
        read_capture(path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD)
    header = path.read_text().splitlines()[0].replace('"devkit_capture":2', '"devkit_capture":1')
    with pytest.raises(InvalidFileError, match=r"version 1 of the format is not known, version 2 is; take .* anew"):
        read_capture(changed(path, 1, header))


def test_a_file_that_was_cut_off_or_is_not_there_is_seen(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD, GOOD)
    header, first, _, end = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + first + end)
    with pytest.raises(InvalidFileError, match="has 1 record, and its end counts 2"):
        read_capture(path)
    path.write_bytes(header + first)
    with pytest.raises(InvalidFileError, match="is unfinished: after 1 record") as raised:
        read_capture(path)
    assert raised.value.hint == "`devkit capture` makes such a file"
    path.write_bytes(b"")
    with pytest.raises(InvalidFileError, match="is unfinished: after 0 records"):
        read_capture(path)
    path.unlink()
    with pytest.raises(UsageError, match=r"the capture .*c.jsonl cannot be read: No such file"):
        read_capture(path)


def test_records_can_be_read_in_another_order(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", GOOD, BROKEN, GOOD.model_copy(update={"offset": 18}))
    places = [place for _, place, _ in CaptureReader(path).records()]
    assert [one.offset for one in records_at(path, reversed(places))] == [18, 0, 17]
    path.write_bytes(path.read_bytes()[3:])
    with pytest.raises(UsageError, match="has changed since it was checked"):
        list(records_at(path, places))
