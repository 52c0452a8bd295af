"""What Spark gets of the aligned source, without Spark: offsets in its own form, ranges, columns."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.consumer.fetcher import ConsumerRecord
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles, ReadMaxRows

from pipeline.aligned import spark_source as module
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.plan_status import read_status
from pipeline.aligned.spark_source import (
    AlignedOptions,
    AlignedReader,
    AlignedSource,
    arrow_batches,
    by_topic,
    positions_of,
)
from pipeline.errors import PipelineError
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.records_in_memory import ODD, RecordsInMemory

A, B = SourcePartition("a", 0), SourcePartition("a", 1)
OPTIONS = AlignedOptions(
    bootstrap_servers="unused:1", topics=("a",), slice_ms=10, idle_after_ms=0, max_offsets=100, initial={"a": {"0": 0}}
)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> RecordsInMemory:
    made = RecordsInMemory({A: list(range(5, 105)), B: [50, None, 61]})
    monkeypatch.setattr(module, "KafkaLog", lambda *_, **__: cast("KafkaLog", made))
    return made


@pytest.fixture
def reader(log: RecordsInMemory) -> AlignedReader:
    return AlignedReader(OPTIONS)


LIMIT = ReadMaxRows(100)


@pytest.mark.parametrize(
    ("start", "end", "ranges"),
    [
        ({"0": 40, "1": 0}, {"0": 50, "1": 2}, [(0, 40, 50, 44), (1, 0, 2, 44)]),
        ({"0": 100}, {"0": 100, "1": 3}, [(1, 0, 3, 104)]),
        ({"0": 100, "1": 3}, {"0": 100, "1": 3}, []),
        ({"1": 3, "0": 100}, {"1": 3, "0": 100}, []),
    ],
    ids=[
        "an offset without a record is passed",
        "a partition that the checkpoint does not know is read from its beginning",
        "without news",
        "the offsets stay as they are written",
    ],
)
def test_a_batch_is_planned_and_read_in_ranges(
    reader: AlignedReader, start: dict[str, int], end: dict[str, int], ranges: list[tuple[int, int, int, int]]
) -> None:
    found = reader.latestOffset({"a": start}, LIMIT)
    assert str(found) == str({"a": end})
    read = reader.partitions({"a": start}, found)
    assert [(one.partition, one.first, one.end, one.horizon_ms) for one in read] == ranges


@pytest.mark.parametrize(
    ("batch_s", "max_offsets", "sizes"),
    [(0.001, 100, [10, 10, 10, 10, 6]), (0.006, 100, [10, 30, 6]), (3600.0, 15, [10, 15, 14, 7])],
    ids=["batches are shorter than their slice", "as long as half of it", "max_offsets bounds it"],
)
def test_a_slice_grows_while_a_backlog_is_read_slowly(
    log: RecordsInMemory, monkeypatch: pytest.MonkeyPatch, batch_s: float, max_offsets: int, sizes: list[int]
) -> None:
    """46 records of A, one in a millisecond, and slices of 10 ms: each batch takes the same time, whatever it has."""
    log.times = {A: list(range(5, 51))}
    seconds = iter(batch * batch_s for batch in range(100))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    reader = AlignedReader(OPTIONS)
    offsets: dict[str, Any] = {"a": {"0": 0}}
    read = []
    while offsets["a"]["0"] < 46:
        before, offsets = offsets, reader.latestOffset(offsets, ReadMaxRows(max_offsets))
        read.append(offsets["a"]["0"] - before["a"]["0"])
    assert read == sizes
    log.times[A] += range(1000, 1050)
    assert reader.latestOffset(offsets, LIMIT) == {"a": {"0": 56}}, "no backlog, no growth"


def test_a_partition_of_aborted_transactions_alone_becomes_idle(
    log: RecordsInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end moves all the while, and the others' events would wait for as long as the transactions come."""
    log.times[B] = []
    seconds = iter(range(100))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    reader = AlignedReader(OPTIONS.model_copy(update={"idle_after_ms": 5000}))
    offsets: dict[str, Any] = {"a": {"0": 0, "1": 0}}
    for _ in range(5):
        log.times[B] += [None, None]
        offsets = reader.latestOffset(offsets, LIMIT)
    assert offsets == {"a": {"0": 0, "1": 10}}, "it may have an event as early as any"
    log.times[B] += [None, None]
    assert reader.latestOffset(offsets, LIMIT) == {"a": {"0": 10, "1": 12}}


def test_a_batch_that_is_run_again_has_the_same_horizon(reader: AlignedReader, log: RecordsInMemory) -> None:
    start = {"a": {"0": 40, "1": 0}}
    end = reader.latestOffset(start, LIMIT)
    first = reader.partitions(start, end)
    log.times[B] += [1, 2, 3]
    log.times[A].append(500)
    assert AlignedReader(OPTIONS).partitions(start, end) == first


def test_the_horizon_is_not_behind_what_the_checkpoint_says_was_read(
    reader: AlignedReader, log: RecordsInMemory
) -> None:
    """Retention may have deleted it."""
    start, end = {"a": {"0": 40, "1": 0}}, {"a": {"0": 50, "1": 2}}
    assert {one.horizon_ms for one in reader.partitions(start, end)} == {44}
    log.firsts = {A: 40}
    for reached_ms, horizon_ms in ((300, 300), (None, None)):
        later = AlignedReader(OPTIONS.model_copy(update={"reached_ms": reached_ms}))
        assert {one.horizon_ms for one in later.partitions(start, end)} == {horizon_ms}


def test_a_job_that_begins_behind_other_events_has_read_none_of_them(log: RecordsInMemory) -> None:
    start = {"a": {"0": 40, "1": 3}}
    reader = AlignedReader(OPTIONS.model_copy(update={"initial": start}))
    end = reader.latestOffset(start, LIMIT)
    assert {one.horizon_ms for one in reader.partitions(start, end)} == {None}
    assert {one.horizon_ms for one in reader.partitions(end, {"a": {"0": 99, "1": 3}})} == {54}


def test_how_far_the_topics_go_is_reported_after_the_first_plan(reader: AlignedReader) -> None:
    assert reader.reportLatestOffset() is None
    reader.latestOffset({"a": {"0": 0, "1": 0}}, LIMIT)
    assert reader.reportLatestOffset() == {"a": {"0": 100, "1": 3}}


def test_what_is_known_of_a_plan_goes_to_the_driver(log: RecordsInMemory, tmp_path: Path) -> None:
    place = tmp_path / "status.json"
    reader = AlignedReader(OPTIONS.model_copy(update={"status_file": place, "idle_after_ms": 60_000}))
    reader.latestOffset({"a": {"0": 60, "1": 3}}, LIMIT)
    found = read_status(place)
    assert found is not None
    assert found.common_ms == 64, "the furthest that was read"
    assert (found.slice_ms, found.ended_by) == (10, "partition")
    assert [(one.partition, one.read_ms, one.waiting_ms, one.idle) for one in found.partitions] == [
        (0, 64, 65, False),
        (1, 61, None, False),
    ]


def test_limits_of_spark(reader: AlignedReader) -> None:
    assert reader.getDefaultReadLimit() == ReadMaxRows(100)
    everything = reader.latestOffset({"a": {"0": 0, "1": 0}}, ReadAllAvailable())
    assert everything == {"a": {"0": 10, "1": 0}}, "the slice bounds it all the same"
    with pytest.raises(PipelineError, match="ReadMaxFiles"):
        reader.latestOffset({"a": {"0": 0}}, ReadMaxFiles(1))


def test_where_the_job_began_comes_from_the_checkpoint(reader: AlignedReader) -> None:
    assert reader.initialOffset() == {"a": {"0": 0}}
    with pytest.raises(PipelineError, match="sources/0/0 is missing"):
        AlignedReader(OPTIONS.model_copy(update={"initial": None})).initialOffset()


@pytest.mark.parametrize(
    ("start", "firsts", "message"),
    [
        ({"a": {"0": 3, "1": 0}}, {A: 5}, "a/0 begins at 5, and is to be read from 3: 2 events are lost"),
        ({"a": {"0": 5}}, {B: 1}, "a/1 begins at 1, and is to be read from 0: 1 events are lost"),
        ({"a": {"0": 101}}, {}, "a/0 ends at 100, and was read to 101"),
        ({"a": {"7": 1}}, {}, "partition a/7 is not there any more"),
    ],
)
def test_what_the_topics_do_not_hold_any_more_is_an_error(
    log: RecordsInMemory, start: dict[str, Any], firsts: dict[SourcePartition, int], message: str
) -> None:
    log.firsts = firsts
    with pytest.raises(PipelineError, match=message):
        AlignedReader(OPTIONS).latestOffset(start, LIMIT)
    with pytest.raises(PipelineError, match=message):
        AlignedReader(OPTIONS).partitions(start, {"a": {"0": 200}})


def test_offsets_as_in_a_checkpoint() -> None:
    positions = {SourcePartition("b", 10): 1, SourcePartition("b", 2): 2, A: 3}
    assert list(by_topic(positions)) == ["a", "b"]
    assert list(by_topic(positions)["b"]) == ["2", "10"]
    assert positions_of(by_topic(positions)) == positions


def record(offset: int, value: bytes | None = b"{}", time_ms: int = 1_767_225_600_123) -> ConsumerRecord:
    headers = [("name", b"value")] if offset else []
    return ConsumerRecord("a", 1, 0, offset, time_ms, 0, b"key", value, headers, None, 3, 2, 0)


def test_the_columns_are_those_of_sparks_own_source() -> None:
    (batch,) = arrow_batches(iter([record(0), record(1, None)]), 5)
    rows = batch.to_pylist()
    assert [row["headers"] for row in rows] == [None, [{"key": "name", "value": b"value"}]]
    assert [row["value"] for row in rows] == [b"{}", None]
    assert (rows[0]["topic"], rows[0]["partition"], rows[0]["offset"], rows[0]["key"]) == ("a", 1, 0, b"key")
    assert rows[0]["timestamp"].isoformat() == "2026-01-01T00:00:00.123000+00:00"
    assert rows[0]["horizon"].isoformat() == "1970-01-01T00:00:00.005000+00:00"
    assert AlignedSource({}).schema().fieldNames() == batch.schema.names


def test_large_records_go_by_themselves() -> None:
    batches = list(arrow_batches((record(at, b"x" * 5_000_000) for at in range(3)), None))
    assert [len(batch) for batch in batches] == [1, 1, 1]
    assert batches[0].column("horizon").null_count == 1


@pytest.mark.parametrize("timestamp", ODD)
def test_a_timestamp_that_is_no_time_is_null(timestamp: int) -> None:
    (batch,) = arrow_batches(iter([record(0, time_ms=timestamp)]), None)
    assert batch.column("timestamp").null_count == 1


def test_without_a_slice_a_batch_is_shared_by_what_waits(log: RecordsInMemory) -> None:
    reader = AlignedReader(OPTIONS.model_copy(update={"slice_ms": None}))
    start = {"a": {"0": 4, "1": 0}}
    end = reader.latestOffset(start, ReadMaxRows(33))
    assert end == {"a": {"0": 36, "1": 1}}
    assert {one.horizon_ms for one in reader.partitions(start, end)} == {None}
    assert log.asked == log.handed_over == 0, "no one asks for times"
