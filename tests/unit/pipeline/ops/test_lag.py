from pathlib import Path

import pytest

from pipeline.ops.lag import PartitionLag, lines, measure, total_line
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import STOPPED, TOPIC, checkpoint_at, recorded

ROWS = [Row(partition, offset, 1000 * partition + offset) for partition in range(3) for offset in range(25)]


def lags(consumer: FakeConsumer, place: Path = STOPPED) -> list[PartitionLag]:
    topic = consumer.as_topic()
    return measure(checkpoint_at(place), TOPIC, topic.bounds(), topic.first_record)


def test_partitions_that_the_checkpoint_does_not_know_count_too() -> None:
    assert lags(FakeConsumer(ROWS, partitions=3, first={2: 5})) == [
        PartitionLag(0, 20, 25, 5, 0, 20),
        PartitionLag(1, None, 25, 25, 0, 1000),
        PartitionLag(2, None, 25, 20, 0, 2005),
    ]


def test_who_is_done_has_no_lag() -> None:
    assert lags(FakeConsumer(ROWS[:20])) == [PartitionLag(0, 20, 20, 0, 0, None)]


def test_a_batch_that_is_not_committed_is_still_to_be_done(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    assert lags(FakeConsumer(ROWS[:20]), place) == [PartitionLag(0, 16, 20, 4, 0, 16)]


def test_what_retention_took_first_is_said() -> None:
    found = lags(FakeConsumer(ROWS, first={0: 23}))
    assert found == [PartitionLag(0, 20, 25, 2, 3, 23)]
    assert "partition 0: 3 more were not done and are gone from the topic" in list(lines(TOPIC, found, 0))


def test_a_topic_that_was_made_again_is_no_job_that_is_done() -> None:
    found = lags(FakeConsumer(ROWS[:5]))
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
