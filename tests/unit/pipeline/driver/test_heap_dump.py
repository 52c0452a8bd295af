"""A dump is read object by object, whatever lies between them, and up to where it ends."""

import struct
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.driver.heap_dumps import read_dump
from pipeline.errors import RefusedError

HEAD = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0)
ROOTS = [b"\xff" + bytes(8), b"\x01" + bytes(16), b"\x04" + bytes(12), b"\x05" + bytes(8), b"\x08" + bytes(16)]


def record(tag: int, body: bytes) -> bytes:
    return struct.pack(">BII", tag, 0, len(body)) + body


def loaded(number: int, name: str) -> bytes:
    """A class and its name."""
    text = record(0x01, struct.pack(">Q", number + 1000) + name.encode())
    return text + record(0x02, struct.pack(">IQIQ", 1, number, 0, number + 1000))


def class_dump(number: int) -> bytes:
    """With a constant, a static reference and two fields."""
    head = b"\x20" + struct.pack(">QI6QI", number, 0, *[0] * 6, 24)
    constants = struct.pack(">HHBI", 1, 7, 10, 5)
    statics = struct.pack(">HQBQ", 1, 3, 2, 9)
    fields = struct.pack(">HQBQB", 2, 3, 2, 4, 10)
    return head + constants + statics + fields


def instance(of: int, size: int) -> bytes:
    return b"\x21" + struct.pack(">QIQI", 1, 0, of, size) + bytes(size)


def references(of: int, count: int) -> bytes:
    return b"\x22" + struct.pack(">QIIQ", 1, 0, count, of) + bytes(8 * count)


def values(kind: int, count: int, size: int) -> bytes:
    return b"\x23" + struct.pack(">QIIB", 1, 0, count, kind) + bytes(count * size)


CLASSES = loaded(1, "a/Row") + loaded(2, "[La/Row;")
ITEMS = st.one_of(
    st.integers(0, 64).map(lambda size: ("a.Row", size + 16, instance(1, size))),
    st.integers(0, 64).map(lambda count: ("a.Row[]", 8 * count + 16, references(2, count))),
    st.integers(0, 64).map(lambda count: ("byte[]", count + 16, values(8, count, 1))),
    st.integers(0, 64).map(lambda count: ("long[]", 8 * count + 16, values(11, count, 8))),
    st.sampled_from([("", 0, root) for root in ROOTS]),
    st.just(("", 0, class_dump(1))),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(ITEMS, max_size=8), max_size=4))
def test_every_object_counts_once(tmp_path: Path, segments: list[list[tuple[str, int, bytes]]]) -> None:
    file = tmp_path / "heap.hprof"
    body = b"".join(record(0x1C, b"".join(item for _, _, item in segment)) for segment in segments)
    file.write_bytes(HEAD + CLASSES + body + record(0x2C, b""))
    sizes = Counter[str]()
    for name, size, _ in (item for segment in segments for item in segment if item[0]):
        sizes[name] += size
    assert {total.name: total.size for total in read_dump(file)} == sizes


def test_a_dump_that_ends_in_the_middle_has_what_comes_before(tmp_path: Path) -> None:
    file = tmp_path / "heap.hprof"
    whole = HEAD + CLASSES + record(0x1C, instance(1, 8) + values(8, 1000, 1) + instance(1, 8))
    file.write_bytes(whole[:-500])
    assert "a.Row" in [total.name for total in read_dump(file)]


@pytest.mark.parametrize("content", [b"", b"PK\3\4" + bytes(100), b"JAVA PROFILE 1.0.2"])
def test_what_is_no_dump_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "heap.hprof"
    file.write_bytes(content)
    with pytest.raises(RefusedError, match="is no heap dump of a JVM"):
        read_dump(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot be read: No such file"):
        read_dump(tmp_path / "none.hprof")


def test_references_of_32_bits_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "heap.hprof"
    file.write_bytes(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 4, 0))
    with pytest.raises(RefusedError, match="references of 4 bytes"):
        read_dump(file)
