"""The command on a topic that a test holds: lines on standard output, the sum on standard error, exit codes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.consumer import command
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.ops.source import Bounds, SourceRecord
from pipeline.records.record import Position
from tests.unit.pipeline.making import make_config


def record(
    partition: int,
    offset: int,
    event_id: str,
    *,
    source: int | None = None,
    timestamp_ms: int = 0,
    job: str = "html-enrichment",
) -> SourceRecord:
    """From offset `source` of the source's partition, by default the record's own. An error event names its `job`."""
    value = orjson.dumps({"meta": {"id": event_id}, "emitter_id": job})
    headers = Position("source", partition, offset if source is None else source).headers()
    return SourceRecord(partition, offset, timestamp_ms, None, value, headers)


class Topic:
    """Grows by one part each time it is asked for its bounds."""

    def __init__(self, *parts: list[SourceRecord], topic: str = "out") -> None:
        self.topic = topic
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
        return (
            one
            for one in self._held
            if one.partition in end and first[one.partition] <= one.offset < end[one.partition]
        )


class Nothing(Topic):
    """An error topic with no record, however often it is asked."""

    def bounds(self) -> Bounds:
        return Bounds({0: 0}, {0: 0})


@pytest.fixture
def consume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    file = tmp_path / "pipeline.yaml"
    monkeypatch.setattr(command, "_LOOK_S", 0)

    def run(
        outputs: Topic, *options: str, errors: Topic | None = None, failures: Topic | None = None, **sections: Any
    ) -> Result:
        config = make_config(**sections)
        file.write_bytes(orjson.dumps(config.model_dump(mode="json", by_alias=True)))
        topics = {config.sink.topic: outputs, config.sink.error_topic: errors or Nothing(topic="error")}
        if config.sink.fetch_failure_topic is not None:
            topics[config.sink.fetch_failure_topic] = failures or Nothing(topic="failures")

        @contextmanager
        def opened(_bootstrap: str, topic: str, **_: Any) -> Iterator[Topic]:
            yield topics[topic]

        monkeypatch.setattr(command, "opened_topic", opened)
        return CliRunner().invoke(main, ["consume", "--config", str(file), *options])

    return run


def ids(result: Result) -> list[str]:
    return [orjson.loads(line)["id"] for line in result.stdout.splitlines()]


def test_it_ends_at_the_present_end(consume: Callable[..., Result]) -> None:
    result = consume(Topic([record(0, 0, "a"), record(0, 1, "b"), record(1, 0, "a")], [record(0, 2, "c")]))
    assert (result.exit_code, ids(result)) == (0, ["a", "b"])
    # The two of one id have other sources, and so other bytes.
    assert result.stderr.startswith("3 records, 0 claim checks resolved, 1 repeats removed (1 with other bytes), 0 err")


def test_the_first_by_time_of_output_and_error_event_stands(consume: Callable[..., Result]) -> None:
    """The topics are read side by side, so which is first does not depend on which of them is longer."""
    outputs = [record(0, 0, "a", timestamp_ms=1), record(0, 1, "b", timestamp_ms=9), record(0, 2, "c", timestamp_ms=10)]
    errors = [
        record(0, 0, "of b", source=1, timestamp_ms=2),
        record(0, 1, "of a", source=0, timestamp_ms=8),
        record(0, 2, "of d", source=3, timestamp_ms=8),
    ]
    result = consume(Topic(outputs), errors=Topic(errors, topic="error"))
    assert (result.exit_code, ids(result)) == (0, ["a", "c"])
    assert result.stderr == (
        "6 records, 0 claim checks resolved, 0 repeats removed (0 with other bytes), 2 error events, "
        "conflicts removed: 1 error after output, 1 output after error\n"
    )


def test_a_fetch_failure_is_an_error_event(consume: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    name = "rdf-resolve"
    defaults = replace(JOB_DEFAULTS[name], splits_outputs=False)
    monkeypatch.setattr(command, "JOB_DEFAULTS", {name: defaults})
    outputs = [record(0, 0, "a", timestamp_ms=1), record(0, 1, "b", timestamp_ms=9)]
    failures = [record(0, 0, "of b", source=1, timestamp_ms=2, job=name)]
    errors = [record(0, 0, "of c", source=2, timestamp_ms=2, job=name)]
    result = consume(
        Topic(outputs), errors=Topic(errors, topic="error"), failures=Topic(failures, topic="failures"), job=name
    )
    assert (result.exit_code, ids(result)) == (0, ["a"])
    assert "2 error events, conflicts removed: 0 error after output, 1 output after error" in result.stderr


def test_error_events_of_another_job_contradict_nothing(consume: Callable[..., Result]) -> None:
    """The two read one source, and share an error topic: an event may have ended in this one's output and in the other
    one's error event, whichever was first.
    """
    outputs = [record(0, 0, "a", timestamp_ms=5), record(0, 1, "b", timestamp_ms=5)]
    errors = [
        record(0, 0, "of a", source=0, timestamp_ms=1, job="content-enrichment"),
        record(0, 1, "of b", source=1, timestamp_ms=9, job="content-enrichment"),
        record(0, 2, "of c", source=2, timestamp_ms=9),
    ]
    result = consume(Topic(outputs), errors=Topic(errors, topic="error"))
    assert (result.exit_code, ids(result)) == (0, ["a", "b"])
    assert result.stderr == (
        "3 records, 0 claim checks resolved, 0 repeats removed (0 with other bytes), 1 error events, "
        "conflicts removed: 0 error after output, 0 output after error; 2 error events of other jobs passed over\n"
    )


def test_it_goes_on_in_both_topics(consume: Callable[..., Result]) -> None:
    outputs = Topic([record(0, 0, "a")], [], [record(0, 1, "b")])
    errors = Topic([], [record(0, 0, "of a", source=0), record(0, 1, "of b", source=1)], [], topic="error")
    result = consume(outputs, "--follow", errors=errors)
    assert (result.exit_code, ids(result)) == (0, ["a"])
    assert result.stderr.endswith("1 error events, conflicts removed: 1 error after output, 1 output after error\n")


def test_one_that_is_stopped_before_its_end_has_not_printed_all(consume: Callable[..., Result]) -> None:
    result = consume(Topic([record(0, 0, "a")]), errors=Topic(topic="error"))
    assert (result.exit_code, "0 records" in result.stderr) == (1, True)


def test_it_goes_on_with_what_comes_and_with_new_partitions(consume: Callable[..., Result]) -> None:
    result = consume(Topic([record(0, 0, "a")], [], [record(0, 1, "b"), record(1, 0, "c")]), "--follow")
    assert (result.exit_code, ids(result)) == (0, ["a", "b", "c"])
    assert result.stderr.startswith("3 records")


def test_a_topic_that_is_made_again_ends_it(consume: Callable[..., Result]) -> None:
    """Of what it has below the old end nothing would be read."""

    again = Topic([record(0, 0, "d")])

    class MadeAgain(Topic):
        def bounds(self) -> Bounds:
            return super().bounds() if self._parts else again.bounds()

    result = consume(MadeAgain([record(0, 0, "a"), record(0, 1, "b")]), "--follow", errors=Topic([], [], topic="error"))
    assert (result.exit_code, ids(result)) == (1, ["a", "b"])
    assert "error: out/0 ends at 1, and was read to 2: it was made again, or has lost records" in result.stderr


def test_what_cannot_be_read_ends_it(consume: Callable[..., Result]) -> None:
    strange = SourceRecord(0, 1, 0, None, b"?", ())
    result = consume(Topic([record(0, 0, "a"), strange, record(0, 2, "b")]))
    assert (result.exit_code, ids(result)) == (1, ["a"])
    assert "error: record out/0/1 is no output of this job" in result.stderr


def test_an_error_topic_of_others_ends_it(consume: Callable[..., Result]) -> None:
    errors = Topic([SourceRecord(0, 0, 5, None, b"?", ())], topic="error")
    result = consume(Topic([record(0, 0, "a")]), errors=errors)
    assert (result.exit_code, ids(result)) == (1, ["a"])
    assert "error: record error/0/0 is no error event of this job" in result.stderr


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["consume", "--config", str(tmp_path / "missing.yaml")])
    assert result.exit_code == 2


def test_a_job_of_outputs_in_several_records_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(orjson.dumps(make_config(job="rdf-resolve").model_dump(mode="json", by_alias=True)))
    result = CliRunner().invoke(main, ["consume", "--config", str(file)])
    assert result.exit_code == 2
    assert "an output of rdf-resolve may take several records of rdf-streaming-updater.mutation" in result.stderr
    assert "pipeline apply" in result.stderr
