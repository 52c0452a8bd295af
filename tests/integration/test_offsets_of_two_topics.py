"""kafka-python asked for the offsets of two topics, when its metadata are of one of them; a real broker.

Set-up: two topics with records in all partitions; a client that has been asked for one of them alone. Checked: where
both begin and end, and what they held when, is told all the same, by each part of the pipeline that reads several.
"""

from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.kafka.partition_offsets import end_offsets, first_offsets, offsets_at
from pipeline.metrics import lag_watch
from pipeline.metrics.lag_watch import KafkaSource, lag_of
from pipeline.records.record import SourcePartition

ROOMS = ("pipeline/aligned", "pipeline/kafka", "pipeline/metrics")
PARTITIONS = {"offsets.page_change": 2, "offsets.page_links": 1}
PLACES = [TopicPartition(topic, number) for topic, count in PARTITIONS.items() for number in range(count)]
SOURCES = [SourcePartition(*place) for place in PLACES]
RECORDS = 3
LOOKS = 60


@pytest.fixture(scope="module")
def bootstrap(stack: tuple[Guardian, Stack]) -> str:
    address = stack[1].kafka.bootstrap
    recreate_topics(address, {topic: (count, {}) for topic, count in PARTITIONS.items()})
    with closing(KafkaProducer(bootstrap_servers=address)) as producer:
        for place in PLACES:
            for number in range(RECORDS):
                producer.send(place.topic, b"{}", partition=place.partition, timestamp_ms=1_000 + number)
        producer.flush()
    return address


@pytest.fixture
def consumer(bootstrap: str) -> Iterator[KafkaConsumer]:
    """One that knows the leaders of the first topic alone."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)) as made:
        made.end_offsets(PLACES[:1])
        yield made


@pytest.mark.slow
def test_kafka_python_leaves_out_what_it_does_not_know(consumer: KafkaConsumer) -> None:
    """The reason for all of this: where a later version has an answer, `partition_offsets` may go."""
    with pytest.raises(KeyError, match="page_links"):
        consumer.end_offsets(PLACES)


@pytest.mark.slow
def test_each_partition_has_its_answer(consumer: KafkaConsumer) -> None:
    assert end_offsets(consumer, PLACES, timeout_s=10) == dict.fromkeys(PLACES, RECORDS)
    assert first_offsets(consumer, PLACES, timeout_s=10) == dict.fromkeys(PLACES, 0)


@pytest.mark.slow
def test_so_have_times(consumer: KafkaConsumer) -> None:
    assert offsets_at(consumer, dict.fromkeys(PLACES, 1_001), timeout_s=10) == dict.fromkeys(PLACES, 1)
    assert offsets_at(consumer, dict.fromkeys(PLACES, 9_999), timeout_s=10) == dict.fromkeys(PLACES)


@pytest.mark.slow
def test_the_aligned_source_is_told_of_both(bootstrap: str) -> None:
    with closing(KafkaLog(bootstrap, "offsets-test", fetch_bytes=1024)) as log:
        assert log.first_at({SOURCES[0]: 1_001}) == {SOURCES[0]: 1}
        assert log.first_at(dict.fromkeys(SOURCES, 1_001)) == dict.fromkeys(SOURCES, 1)
        assert log.bounds(list(PARTITIONS)) == dict.fromkeys(SOURCES, (0, RECORDS))


@pytest.mark.slow
def test_the_lag_is_of_both_however_soon_metadata_age(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag_watch, "LONG_LIVED", {"metadata_max_age_ms": 1, "retry_backoff_ms": 1})
    with closing(KafkaSource(bootstrap, list(PARTITIONS))) as source:
        for _ in range(LOOKS):
            lag = lag_of(source, {SOURCES[0]: 1, SOURCES[2]: 2}, now_s=2.0)
            assert lag.events == {SOURCES[0]: 2, SOURCES[1]: 3, SOURCES[2]: 1}
            assert lag.seconds == pytest.approx({SOURCES[0]: 0.999, SOURCES[1]: 1.0, SOURCES[2]: 0.998})
