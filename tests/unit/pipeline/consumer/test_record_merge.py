"""Records of several topics come by their time, and no partition's order is disturbed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer import record_merge
from pipeline.consumer.record_merge import Stretch, oldest_first
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row

TIMES = st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=3)


def stretch_of(*partitions: list[int], name: str = "out", value: bytes = b"v") -> Stretch:
    """A topic whose records have these times, all of it; every second offset is a gap."""
    rows = [
        Row(partition, at * 2, time, value=value)
        for partition, times in enumerate(partitions)
        for at, time in enumerate(times)
    ]
    ends = {partition: len(times) * 2 for partition, times in enumerate(partitions)}
    topic = FakeConsumer(rows, partitions=len(partitions), ends=ends, topic=name).as_topic()
    bounds = topic.bounds()
    return Stretch(topic, bounds.first, bounds.end)


def read(*stretches: Stretch) -> list[tuple[str, int, int, int]]:
    """Topic, partition, offset and time of each record."""
    return [
        (topic.topic, record.partition, record.offset, record.timestamp_ms) for topic, record in oldest_first(stretches)
    ]


@given(TIMES, TIMES, st.sampled_from([1, 3000, 1_000_000]))
def test_records_come_once_and_in_their_order(
    outputs: list[list[int]], errors: list[list[int]], part_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_merge, "PART_BYTES", part_bytes)
        found = read(stretch_of(*outputs), stretch_of(*errors, name="error"))
    for name, partitions in (("out", outputs), ("error", errors)):
        for partition, times in enumerate(partitions):
            own = [(offset, time) for topic, number, offset, time in found if (topic, number) == (name, partition)]
            assert own == [(at * 2, time) for at, time in enumerate(times)]
    assert len(found) == sum(map(len, outputs + errors))


@given(TIMES, TIMES)
def test_where_partitions_go_by_time_so_does_the_whole(outputs: list[list[int]], errors: list[list[int]]) -> None:
    found = read(stretch_of(*map(sorted, outputs)), stretch_of(*map(sorted, errors), name="error"))
    assert [time for *_, time in found] == sorted(time for times in outputs + errors for time in times)


def test_of_one_moment_the_first_topic_comes_first() -> None:
    found = read(stretch_of([5]), stretch_of([5], name="error"))
    assert [topic for topic, *_ in found] == ["out", "error"]


def test_no_more_than_a_part_of_a_partition_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the first topic is older, so the other waits, with one record where that is more than a part."""
    monkeypatch.setattr(record_merge, "PART_BYTES", 2000)
    outputs, errors = stretch_of([1] * 50, value=bytes(3000)), stretch_of([2] * 50, name="error", value=bytes(3000))
    found = oldest_first([outputs, errors])
    next(found)
    polls = errors.topic._consumer.polls
    assert polls == 1
    for _ in range(49):
        assert next(found)[0] is outputs.topic
    assert errors.topic._consumer.polls == polls
    assert len(list(found)) == 50


def test_a_stretch_begins_and_ends_where_it_says() -> None:
    whole = stretch_of([1, 2, 3, 4], [1, 2])
    part = whole._replace(first={0: 2, 1: 4}, end={0: 6, 1: 4})
    assert read(part) == [("out", 0, 2, 2), ("out", 0, 4, 3)]
