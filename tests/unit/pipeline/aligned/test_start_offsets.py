"""Where a job that reads aligned begins, with topics in memory."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from kafka.errors import TopicAuthorizationFailedError

from pipeline.aligned import start_offsets as module
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.start_offsets import first_offsets, offsets_text, read_offsets, require_event_time
from pipeline.config.start_position import parse_new
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.records_in_memory import RecordsInMemory

A, B = SourcePartition("a", 0), SourcePartition("a", 1)
NOW = datetime(2026, 11, 23, tzinfo=UTC)


class Closing(RecordsInMemory):
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", {A: 1, B: 0}),
        ("latest", {A: 3, B: 2}),
        ("timestamp=1970-01-01T00:00:00.020Z", {A: 1, B: 2}),
        ("timestamp=1970-01-01T00:00:00.030Z", {A: 2, B: 2}),
    ],
)
def test_it_begins_where_sparks_own_source_would(
    monkeypatch: pytest.MonkeyPatch, start: str, expected: dict[SourcePartition, int]
) -> None:
    log = Closing({A: [None, 20, 30], B: [5, 10]}, firsts={A: 1})
    monkeypatch.setattr(module, "KafkaLog", lambda *_, **__: cast("KafkaLog", log))
    assert first_offsets("unused:1", ["a"], parse_new(start, NOW)) == expected
    assert log.closed


def test_the_file_of_the_checkpoint_is_read_back() -> None:
    assert read_offsets(offsets_text({"a": {"0": 7}})) == {"a": {"0": 7}}
    for broken in ("", "\0v1\n", "\0v1\n{"):
        with pytest.raises(PipelineError, match="sources/0/0"):
            read_offsets(broken)


class Admin:
    """Says the kinds of timestamps, or raises."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def describe_configs(self, _wanted: Any, **_: Any) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return {"topic": {topic: {"message.timestamp.type": {"value": kind}} for topic, kind in self.found.items()}}

    def close(self) -> None:
        pass


def test_a_topic_without_event_times_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"a": "CreateTime", "b": "LogAppendTime"}
    monkeypatch.setattr(module, "KafkaAdminClient", lambda **_: Admin(found))
    with pytest.raises(RefusedError, match=r"message\.timestamp\.type of b is LogAppendTime"):
        require_event_time("unused:1", ["a", "b"])


@pytest.mark.parametrize("found", [{"a": "CreateTime"}, {}, TopicAuthorizationFailedError("a")])
def test_who_may_not_ask_begins_all_the_same(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    monkeypatch.setattr(module, "KafkaAdminClient", lambda **_: Admin(found))
    require_event_time("unused:1", ["a"])
