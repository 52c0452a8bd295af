"""Planning with what Kafka says, from the first offset to the last: any order of times, gaps, outliers, timestamps that
are no time, restarts.

A batch's horizon is the latest time of all records below it, however long ago they were read.

Kafka's index of times has the first record of a time or later of the whole partition, also where that was read long
ago.
"""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadMaxRows

from pipeline.aligned import spark_source as module
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.spark_source import AlignedOptions, AlignedReader
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.records_in_memory import ODD, RecordsInMemory, as_event_times

TIMES = st.lists(st.none() | st.integers(1, 200) | st.just(10**9) | st.sampled_from(ODD), max_size=40) | st.builds(
    # A clock that goes back.
    lambda early, right: [*range(1000, 1000 + early), *range(1, right)],
    st.integers(1, 20),
    st.integers(20, 60),
)
LOGS = st.fixed_dictionaries({SourcePartition("a", 0): TIMES, SourcePartition("a", 1): TIMES})


def options(**more: Any) -> AlignedOptions:
    given_ = {"bootstrap_servers": "unused:1", "topics": ("a",), "slice_ms": 20, "idle_after_ms": 0, "max_offsets": 7}
    return AlignedOptions.model_validate({**given_, **more})


@given(times=LOGS, max_offsets=st.integers(1, 20), restarts=st.sets(st.integers(0, 60)))
def test_each_offset_is_in_one_batch_and_no_batch_is_too_large(
    times: dict[SourcePartition, list[int | None]], max_offsets: int, restarts: set[int]
) -> None:
    log = RecordsInMemory(times)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "KafkaLog", lambda *_, **__: cast("KafkaLog", log))
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
        patch.setattr(module, "KafkaLog", lambda *_, **__: cast("KafkaLog", log))
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


def _place(one: module.OffsetRange) -> SourcePartition:
    return SourcePartition(one.topic, one.partition)
