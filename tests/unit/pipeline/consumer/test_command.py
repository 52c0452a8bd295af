"""The command on a topic that a test holds: lines on standard output, the sum on standard error, exit codes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.config import PipelineConfig
from pipeline.consumer import command
from pipeline.ops.source import Bounds, SourceRecord
from pipeline.records.record import Position

MakeConfig = Callable[..., PipelineConfig]


def record(partition: int, offset: int, event_id: str) -> SourceRecord:
    value = orjson.dumps({"meta": {"id": event_id}})
    return SourceRecord(partition, offset, 0, None, value, Position("source", partition, offset).headers())


class Topic:
    """Grows by one part each time it is asked for its bounds."""

    topic = "out"

    def __init__(self, *parts: list[SourceRecord]) -> None:
        self._parts = list(parts)
        self._held: list[SourceRecord] = []

    def bounds(self) -> Bounds:
        if not self._parts:
            raise KeyboardInterrupt
        self._held += self._parts.pop(0)
        ends: dict[int, int] = {}
        for one in self._held:
            ends[one.partition] = one.offset + 1
        return Bounds(dict.fromkeys(ends, 0), ends)

    def records(self, first: Mapping[int, int], end: Mapping[int, int]) -> Iterator[SourceRecord]:
        return iter([one for one in self._held if first[one.partition] <= one.offset < end[one.partition]])


@pytest.fixture
def consume(make_config: MakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(orjson.dumps(make_config().model_dump(mode="json", by_alias=True)))
    monkeypatch.setattr(command, "_LOOK_S", 0)

    def run(topic: Topic, *options: str) -> Result:
        @contextmanager
        def opened(*_: Any, **__: Any) -> Iterator[Topic]:
            yield topic

        monkeypatch.setattr(command, "opened_topic", opened)
        return CliRunner().invoke(main, ["consume", "--config", str(file), *options])

    return run


def ids(result: Result) -> list[str]:
    return [orjson.loads(line)["id"] for line in result.stdout.splitlines()]


def test_it_ends_at_the_present_end(consume: Callable[..., Result]) -> None:
    result = consume(Topic([record(0, 0, "a"), record(0, 1, "b"), record(1, 0, "a")], [record(0, 2, "c")]))
    assert (result.exit_code, ids(result)) == (0, ["a", "b"])
    # The two of one id have other sources, and so other bytes.
    assert result.stderr == "3 records, 0 claim checks resolved, 1 repeats removed (1 with other bytes)\n"


def test_it_goes_on_with_what_comes_and_with_new_partitions(consume: Callable[..., Result]) -> None:
    result = consume(Topic([record(0, 0, "a")], [], [record(0, 1, "b"), record(1, 0, "c")]), "--follow")
    assert (result.exit_code, ids(result)) == (0, ["a", "b", "c"])
    assert result.stderr.startswith("3 records")


def test_what_cannot_be_read_ends_it(consume: Callable[..., Result]) -> None:
    strange = SourceRecord(0, 1, 0, None, b"?", ())
    result = consume(Topic([record(0, 0, "a"), strange, record(0, 2, "b")]))
    assert (result.exit_code, ids(result)) == (1, ["a"])
    assert "error: record out/0/1 is no output of this job" in result.stderr


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["consume", "--config", str(tmp_path / "missing.yaml")])
    assert result.exit_code == 2
