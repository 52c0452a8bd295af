"""`heap-dump` without a JVM: what is shown of a file, and what is refused."""

import struct
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.jvm import command
from pipeline.jvm.processes import SparkJvm
from tests.unit.pipeline.jvm.test_heap_dump import CLASSES, HEAD, instance, record, values

ROW = "   1:         2       3145728  [B (java.base@25)\n"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["heap-dump", *words])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the only JVM here is asked."""
    told: list[tuple[object, ...]] = []

    def ask(*words: object, timeout_s: float) -> str:
        told.append((*words, timeout_s))
        return ROW if words[1] == "inspectheap" else "Heap dump file created"

    monkeypatch.setattr(command, "ask", ask)
    monkeypatch.setattr(command, "spark_jvms", lambda: (SparkJvm(11, "driver", "job"),))
    return told


def test_the_classes_are_shown_and_the_file_is_named(asked: list[tuple[object, ...]], tmp_path: Path) -> None:
    result = run("--output", str(tmp_path / "x.hprof"), "--timeout", "5")
    assert result.exit_code == 0, result.output
    assert asked == [(11, "inspectheap", "-live", 5.0), (11, "dumpheap", str(tmp_path / "x.hprof"), "-live", 5.0)]
    assert result.output.splitlines() == [
        "      MiB      objects  class",
        "      3.0            2  byte[]",
        f"{tmp_path}/x.hprof, where JVM 11 runs",
    ]


def test_without_a_file_nothing_is_written(asked: list[tuple[object, ...]]) -> None:
    assert run("--no-file").exit_code == 0
    assert [words[1] for words in asked] == ["inspectheap"]


def test_the_default_file_has_process_and_time(asked: list[tuple[object, ...]]) -> None:
    run()
    (file,) = [str(words[2]) for words in asked if words[1] == "dumpheap"]
    assert Path(file).is_absolute()
    assert Path(file).name.startswith("heap-11-20")


def test_a_file_that_is_there_stays(asked: list[tuple[object, ...]], tmp_path: Path) -> None:
    (tmp_path / "x.hprof").touch()
    result = run("--output", str(tmp_path / "x.hprof"))
    assert result.exit_code == 2
    assert "x.hprof exists" in result.output
    assert asked == []


@pytest.mark.parametrize("words", [("--read", "x", "--no-file"), ("--read", "x", "7"), ("--no-file", "--output", "x")])
def test_what_contradicts_is_refused(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("timeout", ["0", "nan", "inf"])
def test_a_time_that_will_not_do_is_refused(asked: list[tuple[object, ...]], timeout: str) -> None:
    assert (run("--timeout", timeout).exit_code, asked) == (2, [])


def test_a_dump_that_is_there_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.hprof"
    file.write_bytes(HEAD + CLASSES + record(0x1C, values(11, 1 << 17, 8) + instance(1, 8)))
    result = run("--read", str(file), "--classes", "1")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[1] == "      1.0            1  long[]"
    file.write_bytes(HEAD + CLASSES + struct.pack(">BII", 0x1C, 0, 9999) + instance(1, 8))
    assert "the dump ends in the middle" in run("--read", str(file)).output
