"""The position of a job, as its checkpoint has it. Hadoop's file system is played by a directory."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.errors import RefusedError
from pipeline.session import (
    checkpoint_entries,
    checkpoint_topics,
    committed_offsets,
    heap_bytes,
    jvm_pid,
    known_keys,
    read_text,
    write_text,
)

OFFSETS = """v1
{"batchWatermarkMs":0,"batchTimestampMs":1774000000000,"conf":{}}
{"page_change":{"0":%d,"1":4}}
"""


class Stream:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text()
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Files:
    """What is asked of Hadoop's FileSystem."""

    def __init__(self) -> None:
        self.opened: list[Stream] = []

    def exists(self, path: Path) -> bool:
        return path.exists()

    def listStatus(self, path: Path) -> list[Any]:  # noqa: N802
        return [
            SimpleNamespace(getPath=lambda one=one: SimpleNamespace(getName=lambda: one.name)) for one in path.iterdir()
        ]

    def create(self, path: Path, overwrite: bool) -> Any:
        if path.exists() and not overwrite:
            raise FileExistsError(path)
        return path.open("wb")

    def open(self, path: Path) -> Stream:
        self.opened.append(Stream(path))
        return self.opened[-1]


def spark(files: Files) -> Any:
    def path(text: str) -> Any:
        found = Path(text)
        return _Path(found, files)

    io = SimpleNamespace(IOUtils=SimpleNamespace(toString=lambda stream, _charset: stream.text))
    runtime = SimpleNamespace(getRuntime=lambda: SimpleNamespace(maxMemory=lambda: 5000))
    entries = [SimpleNamespace(key=lambda: "spark.a"), SimpleNamespace(key=lambda: "spark.b")]
    registered = SimpleNamespace(listAllEntries=lambda: SimpleNamespace(toArray=lambda: entries))
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 77))
    jvm = SimpleNamespace(
        org=SimpleNamespace(
            apache=SimpleNamespace(
                hadoop=SimpleNamespace(fs=SimpleNamespace(Path=path)),
                commons=SimpleNamespace(io=io),
                spark=SimpleNamespace(internal=SimpleNamespace(config=SimpleNamespace(ConfigEntry=registered))),
            )
        ),
        java=SimpleNamespace(lang=SimpleNamespace(ProcessHandle=process, Runtime=runtime)),
    )
    return SimpleNamespace(_jvm=jvm, _jsc=SimpleNamespace(hadoopConfiguration=lambda: None))


class _Path(type(Path())):  # type: ignore[misc]
    """A path that knows its file system, as Hadoop's do."""

    def __new__(cls, path: Path, files: Files) -> Any:
        made = super().__new__(cls, path)
        made.getFileSystem = lambda _configuration: files
        return made


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    for part in ("offsets", "commits", "sources/0"):
        (tmp_path / part).mkdir(parents=True)
    return tmp_path


def test_the_last_committed_batch_says_the_position(checkpoint: Path) -> None:
    """And not a batch that is only planned."""
    for batch in (9, 10, 11):
        (checkpoint / "offsets" / str(batch)).write_text(OFFSETS % batch)
    for batch in (9, 10):
        (checkpoint / "commits" / str(batch)).touch()
    files = Files()
    assert committed_offsets(spark(files), str(checkpoint)) == {0: 10, 1: 4}
    assert [stream.closed for stream in files.opened] == [True]


def test_before_any_commit_it_is_where_the_job_began(checkpoint: Path) -> None:
    (checkpoint / "offsets" / "0").write_text(OFFSETS % 5)
    (checkpoint / "sources/0/0").write_text('\0v1\n{"page_change":{"0":0,"1":3}}')
    assert committed_offsets(spark(Files()), f"{checkpoint}/") == {0: 0, 1: 3}


def test_before_the_first_plan_there_is_no_position(checkpoint: Path) -> None:
    assert committed_offsets(spark(Files()), str(checkpoint)) is None


def test_the_jvm_says_who_it_is() -> None:
    assert jvm_pid(spark(Files())) == 77


def test_the_jvm_says_its_heap_and_spark_its_settings() -> None:
    assert heap_bytes(spark(Files())) == 5000
    assert known_keys(spark(Files())) == {"spark.a", "spark.b"}


def test_what_lies_at_the_top_of_a_checkpoint(checkpoint: Path) -> None:
    assert sorted(checkpoint_entries(spark(Files()), f"{checkpoint}/")) == ["commits", "offsets", "sources"]
    assert checkpoint_entries(spark(Files()), str(checkpoint / "nowhere")) == []


def test_a_small_file_is_written_once(checkpoint: Path) -> None:
    assert read_text(spark(Files()), str(checkpoint), "job.json") is None
    write_text(spark(Files()), str(checkpoint), "job.json", '{"ä": 1}')
    assert read_text(spark(Files()), str(checkpoint), "job.json") == '{"ä": 1}'
    with pytest.raises(FileExistsError):
        write_text(spark(Files()), str(checkpoint), "job.json", "other")


def test_the_topics_are_those_of_the_last_plan_or_of_the_beginning(checkpoint: Path) -> None:
    assert checkpoint_topics(spark(Files()), str(checkpoint)) == []
    (checkpoint / "sources/0/0").write_text('\0v1\n{"earlier":{"0":0}}')
    assert checkpoint_topics(spark(Files()), str(checkpoint)) == ["earlier"]
    (checkpoint / "offsets" / "3").write_text(OFFSETS % 5)
    assert checkpoint_topics(spark(Files()), str(checkpoint)) == ["page_change"]


@pytest.mark.parametrize("last", ["no json", "5", "[1]"])
def test_offsets_of_another_program_are_refused(checkpoint: Path, last: str) -> None:
    (checkpoint / "offsets" / "0").write_text(f"v1\n{{}}\n{last}\n")
    with pytest.raises(RefusedError, match="offsets/0 has no offsets of Kafka: another program has made it"):
        checkpoint_topics(spark(Files()), str(checkpoint))
