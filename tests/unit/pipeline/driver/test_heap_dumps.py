"""What the JVM is told to write, and what is told of it: object by object, whatever lies between, up to the end."""

import struct
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.config.heap_dump_section import HeapDumps
from pipeline.driver.heap_dumps import AwaitedDump, ClassTotal, await_dump, java_name, largest, read_dump
from pipeline.errors import RefusedError
from pipeline.events import Event, HeapDumped, HeapDumpsOff


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "heap.hprof"


def spark(options: dict[str, str]) -> Any:
    bean = SimpleNamespace(setVMOption=options.__setitem__)
    factory = SimpleNamespace(getPlatformMXBean=lambda _class: bean)
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 77))
    lang = SimpleNamespace(
        management=SimpleNamespace(ManagementFactory=factory),
        Class=SimpleNamespace(forName=lambda name: name),
        ProcessHandle=process,
    )
    return SimpleNamespace(_jvm=SimpleNamespace(java=SimpleNamespace(lang=lang)))


def test_without_a_directory_the_jvm_is_left_as_it_is(events: list[Event]) -> None:
    options: dict[str, str] = {}
    await_dump(spark(options), HeapDumps(), "job").log_dump()
    assert options == {}
    assert events == []


def test_the_jvm_is_told_a_file_that_no_other_start_has(tmp_path: Path, events: list[Event]) -> None:
    options: dict[str, str] = {}
    dump = await_dump(spark(options), HeapDumps(directory=str(tmp_path / "a" / "b")), "job")
    assert options == {"HeapDumpPath": str(dump.file), "HeapDumpOnOutOfMemoryError": "true"}
    assert dump.file is not None
    assert dump.file.parent == tmp_path / "a" / "b"
    assert dump.file.name.startswith("job-20")
    assert dump.file.name.endswith("-77.hprof")
    dump.log_dump()
    assert events == [], "there was no OutOfMemoryError"


def test_no_more_are_written_than_are_kept(tmp_path: Path, events: list[Event]) -> None:
    (tmp_path / "first.hprof").touch()
    options: dict[str, str] = {}
    assert await_dump(spark(options), HeapDumps(directory=str(tmp_path), keep=2), "job").file is not None
    (tmp_path / "second.hprof").touch()
    options.clear()
    assert await_dump(spark(options), HeapDumps(directory=str(tmp_path), keep=2), "job").file is None
    assert options == {}
    assert events == [HeapDumpsOff(directory=str(tmp_path), dumps=2, keep=2)]


def test_a_directory_that_cannot_be_made_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RefusedError, match=r"heap_dump.directory: .*/file/x cannot be made"):
        await_dump(spark({}), HeapDumps(directory=str(tmp_path / "file" / "x")), "job")


@pytest.mark.parametrize("classes", [{"byte[]": 1000, "a.Row": 24}, {}], ids=["a dump", "a file that cannot be read"])
def test_a_dump_is_told_with_its_largest_classes(file: Path, events: list[Event], classes: dict[str, int]) -> None:
    file.write_bytes(HEAD + CLASSES + record(0x1C, values(8, 984, 1) + instance(1, 8)) if classes else b"")
    AwaitedDump(file).log_dump()
    assert events == [HeapDumped(file=str(file), bytes=file.stat().st_size, classes=classes)]


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
def test_every_object_counts_once(file: Path, segments: list[list[tuple[str, int, bytes]]]) -> None:
    body = b"".join(record(0x1C, b"".join(item for _, _, item in segment)) for segment in segments)
    file.write_bytes(HEAD + CLASSES + body + record(0x2C, b""))
    sizes = Counter[str]()
    for name, size, _ in (item for segment in segments for item in segment if item[0]):
        sizes[name] += size
    assert {total.name: total.size for total in read_dump(file)} == sizes


def test_a_dump_that_ends_in_the_middle_has_what_comes_before(file: Path) -> None:
    whole = HEAD + CLASSES + record(0x1C, instance(1, 8) + values(8, 1000, 1) + instance(1, 8))
    file.write_bytes(whole[:-500])
    assert "a.Row" in [total.name for total in read_dump(file)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "is no heap dump of a JVM", id="empty"),
        pytest.param(b"PK\3\4" + bytes(100), "is no heap dump of a JVM", id="an archive"),
        pytest.param(b"JAVA PROFILE 1.0.2", "is no heap dump of a JVM", id="a head that is cut off"),
        pytest.param(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 4, 0), "references of 4 bytes", id="32 bits"),
        pytest.param(None, "cannot be read: No such file", id="no file"),
    ],
)
def test_what_is_no_dump_is_refused(file: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RefusedError, match=message):
        read_dump(file)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("[B", "byte[]"),
        ("[[J", "long[][]"),
        ("[Ljava.lang.String;", "java.lang.String[]"),
        ("[[Ljava/lang/Object;", "java.lang.Object[][]"),
        ("java/util/HashMap$Node", "java.util.HashMap$Node"),
    ],
)
def test_names_are_those_of_source_code(name: str, expected: str) -> None:
    assert java_name(name) == expected


TOTALS = st.lists(st.builds(ClassTotal, st.sampled_from("abcd"), st.integers(0, 99)))


@given(TOTALS)
def test_nothing_is_lost_and_the_largest_is_first(totals: list[ClassTotal]) -> None:
    found = largest(totals)
    assert sum(one.size for one in found) == sum(one.size for one in totals)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    assert len({one.name for one in found}) == len(found)
