"""A source topic as the commands read it, the id of its cluster, and the lag of a checkpoint behind it."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError

from pipeline.errors import PipelineError, RefusedError
from pipeline.ops import broker
from pipeline.ops.lag import PartitionLag, lines, measure, total_line
from pipeline.ops.source import Bounds, total
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import STOPPED, TOPIC, checkpoint_at, recorded

ROWS = [Row(0, offset, 1000 + offset * 10) for offset in range(6)] + [Row(1, 3, 1025), Row(1, 4, 1035)]
LAG_ROWS = [Row(partition, offset, 1000 * partition + offset) for partition in range(3) for offset in range(25)]


def test_what_each_partition_holds() -> None:
    topic = FakeConsumer(ROWS, partitions=3, first={0: 2, 1: 3}).as_topic()
    assert topic.bounds() == Bounds({0: 2, 1: 3, 2: 0}, {0: 6, 1: 5, 2: 0})


def test_the_first_event_of_a_time_or_later_and_the_end_where_there_is_none() -> None:
    topic = FakeConsumer(ROWS, partitions=3).as_topic()
    bounds = topic.bounds()
    assert topic.at(1030, bounds) == {0: 3, 1: 4, 2: 0}
    assert topic.at(1031, bounds) == {0: 4, 1: 4, 2: 0}
    assert topic.at(9999, bounds) == {0: 6, 1: 5, 2: 0}


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), unique=True),
    st.dictionaries(st.integers(0, 2), st.integers(0, 30)),
    st.dictionaries(st.integers(0, 2), st.integers(0, 30)),
)
def test_the_part_is_read_in_order(held: list[tuple[int, int]], first: dict[int, int], end: dict[int, int]) -> None:
    """With the gaps that compaction leaves, also at the end."""
    rows = [Row(partition, offset, 0) for partition, offset in sorted(held)]
    topic = FakeConsumer(rows, partitions=3, ends=dict.fromkeys(range(3), 31)).as_topic()
    part = {partition: offset for partition, offset in end.items() if partition in first}
    found = [(record.partition, record.offset) for record in topic.records(first, part)]
    assert sorted(found) == [
        (partition, offset)
        for partition, offset in sorted(held)
        if partition in part and first[partition] <= offset < part[partition]
    ]
    for number in range(3):
        offsets = [offset for partition, offset in found if partition == number]
        assert offsets == sorted(offsets)


def test_the_same_partition_is_read_twice_in_succession() -> None:
    clock = map(float, count(step=7))
    topic = FakeConsumer(ROWS).as_topic(lambda: next(clock))
    for first, end in ((0, 3), (3, 6)):
        assert [record.offset for record in topic.records({0: first}, {0: end})] == list(range(first, end))


def test_a_reading_that_is_left_leaves_the_next_one_alone() -> None:
    """As when several partitions are read in turn with one client, each no further than was asked for."""
    topic = FakeConsumer(ROWS, partitions=2).as_topic()
    records = topic.records({0: 0, 1: 3}, {0: 6, 1: 5})
    assert next(records).offset == 0
    for first in (2, 0):
        assert [one.offset for one in topic.records({0: first}, {0: 6})] == list(range(first, 6))
    assert [one.offset for one in topic.records({1: 4}, {1: 5})] == [4]


def test_a_record_is_as_it_stands_there() -> None:
    row = Row(0, 0, 1234, b"k", None, (("a", b"1"), ("a", None)))
    record = FakeConsumer([row]).as_topic().first_record(0, 0, 1)
    assert record is not None
    assert (record.timestamp_ms, record.key, record.value, record.headers) == (
        1234,
        b"k",
        None,
        (("a", b"1"), ("a", None)),
    )
    assert record.own_headers == (("a", b"1"), ("a", b""))


def test_the_first_record_behind_a_gap() -> None:
    topic = FakeConsumer([Row(0, 7, 1)]).as_topic()
    record = topic.first_record(0, 2, 8)
    assert record is not None
    assert record.offset == 7
    assert topic.first_record(0, 2, 7) is None
    assert topic.first_record(0, 8, 8) is None


def test_a_topic_that_is_not_there_is_refused() -> None:
    consumer = FakeConsumer([])
    topic = consumer.as_topic()
    consumer.topic = "another"
    with pytest.raises(RefusedError, match=r"there is no topic mediawiki\.page_change\.v1 at broker:9092") as caught:
        topic.bounds()
    assert caught.value.hint == "look at `source` in the job's file"
    with pytest.raises(RefusedError) as caught:
        FakeConsumer([], partitions=0).as_topic(named_by="--into").bounds()
    assert caught.value.hint == "look at --into"


def test_a_broker_that_fails_is_named() -> None:
    consumer = FakeConsumer(ROWS, failure=KafkaTimeoutError("too late"))
    with pytest.raises(PipelineError, match=r"at broker:9092 cannot be read: .*too late"):
        consumer.as_topic().bounds()
    with pytest.raises(PipelineError, match="cannot be read"):
        list(consumer.as_topic().records({0: 0}, {0: 6}))


def test_silence_ends() -> None:
    consumer = FakeConsumer(ROWS, mute=True)
    clock = map(float, count(step=7))
    with pytest.raises(PipelineError, match=r"mediawiki\.page_change\.v1 at broker:9092: no record for 30 s"):
        list(consumer.as_topic(lambda: next(clock)).records({0: 0}, {0: 6}))
    assert consumer.polls == 5


def test_the_sum_of_a_part() -> None:
    assert total({0: 5, 1: 7}, {0: 9, 1: 3, 2: 4}) == 8


@pytest.mark.parametrize(
    ("times", "starts"),
    [
        # From 1970 on is all: what has no time, which is -1, and what is of one before.
        ([-1, -5000, 1000], {0: 0, 1: 2}),
        # Kafka's index takes what is no time at its word, and it is not later than any.
        ([10, 10**18, 20, 0, 30, 25, 2**63 - 1], {5: 0, 15: 2, 21: 4, 31: 7}),
    ],
)
def test_where_a_time_begins_among_timestamps_that_are_none(times: list[int], starts: dict[int, int]) -> None:
    topic = FakeConsumer([Row(0, offset, time_ms) for offset, time_ms in enumerate(times)]).as_topic()
    bounds = topic.bounds()
    assert {at_ms: topic.at(at_ms, bounds)[0] for at_ms in starts} == starts


class FakeAdmin:
    """Answers once, or with a failure, and may not be left open."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.closed = False

    def describe_cluster(self) -> dict[str, Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(("answer", "found"), [({"cluster_id": "c1"}, "c1"), ({"cluster_id": ""}, None), ({}, None)])
def test_the_id_of_a_cluster(answer: dict[str, Any], found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = FakeAdmin(answer)
    monkeypatch.setattr(broker, "KafkaAdminClient", lambda **_: admin)
    assert broker.cluster_id("broker:1") == found
    assert admin.closed


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = FakeAdmin(KafkaTimeoutError("gone"))
    monkeypatch.setattr(broker, "KafkaAdminClient", lambda **_: admin)
    with pytest.raises(PipelineError, match=r"Kafka at broker:1 does not answer: .*gone"):
        broker.cluster_id("broker:1")
    assert admin.closed


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(PipelineError, match="Kafka at localhost:abc does not answer"):
        broker.cluster_id("localhost:abc")


def lags(consumer: FakeConsumer, place: Path = STOPPED) -> list[PartitionLag]:
    topic = consumer.as_topic()
    return measure(checkpoint_at(place), TOPIC, topic.bounds(), topic.first_record)


def test_partitions_that_the_checkpoint_does_not_know_count_too() -> None:
    assert lags(FakeConsumer(LAG_ROWS, partitions=3, first={2: 5})) == [
        PartitionLag(0, 20, 25, 5, 0, 20),
        PartitionLag(1, None, 25, 25, 0, 1000),
        PartitionLag(2, None, 25, 20, 0, 2005),
    ]


def test_who_is_done_has_no_lag() -> None:
    assert lags(FakeConsumer(LAG_ROWS[:20])) == [PartitionLag(0, 20, 20, 0, 0, None)]


def test_a_batch_that_is_not_committed_is_still_to_be_done(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    assert lags(FakeConsumer(LAG_ROWS[:20]), place) == [PartitionLag(0, 16, 20, 4, 0, 16)]


def test_what_retention_took_first_is_said() -> None:
    found = lags(FakeConsumer(LAG_ROWS, first={0: 23}))
    assert found == [PartitionLag(0, 20, 25, 2, 3, 23)]
    assert "partition 0: 3 more were not done and are gone from the topic" in list(lines(TOPIC, found, 0))


def test_a_topic_that_was_made_again_is_no_job_that_is_done() -> None:
    found = lags(FakeConsumer(LAG_ROWS[:5]))
    assert found == [PartitionLag(0, 20, 5, 0, 0, None)]
    *_, said = lines(TOPIC, found, 0)
    assert said == "partition 0: it is not the topic of this checkpoint; `checkpoint verify` says more"


@pytest.mark.parametrize(("now_ms", "seconds"), [(3500, "2.5"), (500, "0.0")])
def test_the_table_ends_with_the_sum_and_the_oldest(now_ms: int, seconds: str) -> None:
    found = [
        PartitionLag(0, 20, 25, 5, 0, 3000),
        PartitionLag(1, None, 4, 4, 0, 1000),
        PartitionLag(2, 3, 3, 0, 0, None),
    ]
    _, heading, *rows = lines("t", found, now_ms)
    assert heading.split() == ["partition", "committed", "end", "events", "seconds"]
    assert rows[1].split() == ["1", "unknown", "4", "4", seconds]
    assert rows[2].split() == ["2", "3", "3", "0", "0.0"]
    assert rows[3].split() == ["all", "9", seconds]


def test_several_topics_have_a_total_of_all_events_and_the_oldest() -> None:
    topics = {
        "a": [PartitionLag(0, 20, 25, 5, 0, 3000), PartitionLag(1, 3, 3, 0, 0, None)],
        "b": [PartitionLag(0, None, 4, 4, 0, 1000)],
    }
    assert total_line(topics, 3500).split() == ["total", "9", "2.5", "of", "2", "topics"]


@pytest.mark.parametrize("timestamp", [-1, 0, 10**18])
def test_the_age_of_a_record_without_a_time_is_not_known(timestamp: int) -> None:
    (found,) = lags(FakeConsumer([Row(0, offset, timestamp) for offset in range(25)]))
    assert (found.events, found.oldest_ms) == (5, None)
