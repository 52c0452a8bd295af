"""What the JVM is told to write, and what is told of it at the end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline import log
from pipeline.config.heap_dump_section import HeapDumps
from pipeline.driver.heap_dumps import AwaitedDump, await_dump
from pipeline.errors import RefusedError
from pipeline.events import Event, HeapDumped, HeapDumpsOff
from tests.unit.pipeline.driver.test_heap_dump import CLASSES, HEAD, instance, record, values


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    events: list[Event] = []
    monkeypatch.setattr(log, "emit", events.append)
    return events


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


def test_without_a_directory_the_jvm_is_left_as_it_is(said: list[Event]) -> None:
    options: dict[str, str] = {}
    await_dump(spark(options), HeapDumps(), "job").log_dump()
    assert options == {}
    assert said == []


def test_the_jvm_is_told_a_file_that_no_other_start_has(tmp_path: Path, said: list[Event]) -> None:
    options: dict[str, str] = {}
    dump = await_dump(spark(options), HeapDumps(directory=str(tmp_path / "a" / "b")), "job")
    assert options == {"HeapDumpPath": str(dump.file), "HeapDumpOnOutOfMemoryError": "true"}
    assert dump.file is not None
    assert dump.file.parent == tmp_path / "a" / "b"
    assert dump.file.name.startswith("job-20")
    assert dump.file.name.endswith("-77.hprof")
    dump.log_dump()
    assert said == [], "there was no OutOfMemoryError"


def test_no_more_are_written_than_are_kept(tmp_path: Path, said: list[Event]) -> None:
    (tmp_path / "first.hprof").touch()
    options: dict[str, str] = {}
    assert await_dump(spark(options), HeapDumps(directory=str(tmp_path), keep=2), "job").file is not None
    (tmp_path / "second.hprof").touch()
    options.clear()
    assert await_dump(spark(options), HeapDumps(directory=str(tmp_path), keep=2), "job").file is None
    assert options == {}
    assert said == [HeapDumpsOff(directory=str(tmp_path), dumps=2, keep=2)]


def test_a_directory_that_cannot_be_made_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RefusedError, match=r"heap_dump.directory: .*/file/x cannot be made"):
        await_dump(spark({}), HeapDumps(directory=str(tmp_path / "file" / "x")), "job")


def test_a_dump_is_told_with_its_largest_classes(tmp_path: Path, said: list[Event]) -> None:
    file = tmp_path / "x.hprof"
    file.write_bytes(HEAD + CLASSES + record(0x1C, values(8, 984, 1) + instance(1, 8)))
    AwaitedDump(file).log_dump()
    size = file.stat().st_size
    assert said == [HeapDumped(file=str(file), bytes=size, classes={"byte[]": 1000, "a.Row": 24})]


def test_a_file_that_cannot_be_read_is_named_all_the_same(tmp_path: Path, said: list[Event]) -> None:
    file = tmp_path / "x.hprof"
    file.touch()
    AwaitedDump(file).log_dump()
    assert said == [HeapDumped(file=str(file), bytes=0, classes={})]
