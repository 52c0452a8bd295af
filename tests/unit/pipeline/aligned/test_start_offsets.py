"""Where a job that reads aligned begins, and that it reads each offset once to the last, with topics in memory."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.admin import ConfigFilterType, ConfigResource
from kafka.errors import TopicAuthorizationFailedError
from pyspark.sql.streaming.datasource import ReadMaxRows

from pipeline.aligned import spark_source as spark_source
from pipeline.aligned import start_offsets as module
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.spark_source import AlignedOptions, AlignedReader
from pipeline.aligned.start_offsets import first_offsets, offsets_text, read_offsets, require_event_time
from pipeline.config.start_position import parse_new
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import SourcePartition
from tests.unit.described_configs import described_configs
from tests.unit.pipeline.aligned.records_in_memory import ODD, RecordsInMemory, as_event_times

A, B = SourcePartition("a", 0), SourcePartition("a", 1)
NOW = datetime(2026, 11, 23, tzinfo=UTC)
TIMES = st.lists(st.none() | st.integers(1, 200) | st.just(10**9) | st.sampled_from(ODD), max_size=40) | st.builds(
    # A clock that goes back.
    lambda early, right: [*range(1000, 1000 + early), *range(1, right)],
    st.integers(1, 20),
    st.integers(20, 60),
)
LOGS = st.fixed_dictionaries({SourcePartition("a", 0): TIMES, SourcePartition("a", 1): TIMES})


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

    def describe_configs(self, wanted: list[ConfigResource], config_filter: ConfigFilterType | str = "modified") -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        # CreateTime is Kafka's default.
        settings = {
            topic: {
                "message.timestamp.type": (kind, "DEFAULT_CONFIG" if kind == "CreateTime" else "DYNAMIC_TOPIC_CONFIG")
            }
            for topic, kind in self.found.items()
        }
        return described_configs(settings, wanted, config_filter)

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


def options(**more: Any) -> AlignedOptions:
    given_ = {"bootstrap_servers": "unused:1", "topics": ("a",), "slice_ms": 20, "idle_after_ms": 0, "max_offsets": 7}
    return AlignedOptions.model_validate({**given_, **more})


@given(times=LOGS, max_offsets=st.integers(1, 20), restarts=st.sets(st.integers(0, 60)))
def test_each_offset_is_in_one_batch_and_no_batch_is_too_large(
    times: dict[SourcePartition, list[int | None]], max_offsets: int, restarts: set[int]
) -> None:
    log = RecordsInMemory(times)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_source, "KafkaLog", lambda *_, **__: cast("KafkaLog", log))
        reader = AlignedReader(options(max_offsets=max_offsets))
        offsets: dict[str, dict[str, int]] = {"a": {"0": 0, "1": 0}}
        read: list[tuple[int, int]] = []
        for batch in range(1 + sum(map(len, times.values()))):
            end = reader.latestOffset(offsets, ReadMaxRows(max_offsets))
            if end == offsets:
                break
            if batch in restarts:
                reader = AlignedReader(options(max_offsets=max_offsets))
            ranges = reader.partitions(offsets, end)
            of_records = [one for one in ranges if any(t is not None for t in times[_place(one)][one.first :])]
            assert sum(one.end - one.first for one in of_records) <= max_offsets
            below = [of[at] for (_, number), of in times.items() for at in range(offsets["a"][str(number)])]
            assert {one.horizon_ms for one in ranges} == {max((t for t in as_event_times(below) if t), default=None)}
            read += [(one.partition, at) for one in ranges for at in range(one.first, one.end)]
            offsets = end
    assert sorted(read) == [(one.partition, at) for one, of in sorted(times.items()) for at in range(len(of))]


@given(times=LOGS, max_offsets=st.integers(2, 20))
def test_a_timestamp_that_is_no_time_makes_nothing_late(
    times: dict[SourcePartition, list[int | None]], max_offsets: int
) -> None:
    """The others are read as without it: behind what was read before only where their own partition is."""
    log = RecordsInMemory(times)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_source, "KafkaLog", lambda *_, **__: cast("KafkaLog", log))
        reader = AlignedReader(options(max_offsets=max_offsets))
        offsets: dict[str, dict[str, int]] = {"a": {"0": 0, "1": 0}}
        furthest = dict.fromkeys(times, 0)
        for _ in range(1 + sum(map(len, times.values()))):
            ranges = reader.partitions(offsets, end := reader.latestOffset(offsets, ReadMaxRows(max_offsets)))
            for one in ranges:
                own = as_event_times(times[_place(one)])
                for time in (time for time in own[one.first : one.end] if time):
                    assert time < furthest[_place(one)] or time >= (one.horizon_ms or 0)
                    furthest[_place(one)] = max(furthest[_place(one)], time)
            offsets = end


def _place(one: spark_source.OffsetRange) -> SourcePartition:
    return SourcePartition(one.topic, one.partition)
