"""The broker's files, read without a broker."""

import struct
from pathlib import Path

import pytest

from benchmarks.engine.topic_log import TopicLog


def varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def record(offset: int, key: bytes | None, value: bytes) -> bytes:
    def field(data: bytes | None) -> bytes:
        return varint(-1) if data is None else varint(len(data)) + data

    body = b"\0" + varint(3) + varint(offset) + field(key) + field(value) + varint(0)
    return varint(len(body)) + body


def batch(base: int, at_ms: int, *values: bytes, attributes: int = 0x08) -> bytes:
    records = b"".join(record(n, None if n else b"key", value) for n, value in enumerate(values))
    rest = struct.pack(">ibIhiqqqhii", 0, 2, 0, attributes, len(values) - 1, at_ms - 5, at_ms, -1, -1, -1, len(values))
    return struct.pack(">qi", base, len(rest) + len(records)) + rest + records


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    (tmp_path / "out-1").mkdir()
    (tmp_path / "out-of-the-way-0").mkdir()
    return tmp_path / "out-1" / "00000000000000000000.log"


def test_counts_what_was_appended_and_when(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(0, 1_000, b"one", b"two") + batch(2, 2_000, b"three"))
    log = TopicLog(tmp_path, "out")
    assert log.look() == 3
    assert [(b.partition, b.offset, b.count, b.at_ms) for b in log.batches] == [(1, 0, 2, 1_000), (1, 2, 1, 2_000)]


def test_follows_a_file_that_grows_within_a_batch(tmp_path: Path, segment: Path) -> None:
    second = batch(1, 2_000, b"b" * 300)
    segment.write_bytes(batch(0, 1_000, b"a") + second[:100])
    log = TopicLog(tmp_path, "out")
    assert log.look() == 1
    segment.write_bytes(batch(0, 1_000, b"a") + second)
    assert log.look() == 2
    assert log.look() == 2


def test_records_have_key_offset_and_as_much_of_the_value_as_was_asked_for(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(7, 1_000, b"x" * 200, b"second"))
    log = TopicLog(tmp_path, "out")
    log.look()
    assert [(r.offset, r.key, r.value) for r in log.records()] == [(7, b"key", b"x" * 200), (8, None, b"second")]
    assert [r.value for r in log.records(value_bytes=3)] == [b"xxx", b"sec"]
    assert list(log.records(since=1)) == []


def test_control_batches_are_no_records_and_compressed_ones_are_refused(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(0, 1_000, b"commit", attributes=0x30) + batch(1, 2_000, b"a"))
    assert TopicLog(tmp_path, "out").look() == 1
    segment.write_bytes(batch(0, 1_000, b"zipped", attributes=0x01))
    with pytest.raises(ValueError, match="attributes 0x1"):
        TopicLog(tmp_path, "out").look()
