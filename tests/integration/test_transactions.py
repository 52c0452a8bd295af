"""Topics that a transactional producer writes to: offsets that are no records, and records that do not count.

Set-up: the session's stack, and topics of the test's own whose last offsets are transactions' markers. Checked: every
look comes to its end, and the audit reads what is committed.
"""

from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka import KafkaProducer

from devkit.debug.tail import TopicTail
from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import read_topic
from devkit.observe.deferrals import DeferralTopic
from devkit.stack.stack import Stack
from devkit.stack.topics import TopicEnds, recreate_topics
from pipeline.ops.source import opened_topic

TOPIC = "transactions.output"


@pytest.fixture
def bootstrap(stack: tuple[Guardian, Stack]) -> str:
    _, running = stack
    recreate_topics(running.kafka.bootstrap, {TOPIC: (2, {})})
    return running.kafka.bootstrap


@pytest.fixture
def producer(bootstrap: str) -> Iterator[KafkaProducer]:
    with closing(KafkaProducer(bootstrap_servers=bootstrap, transactional_id="program")) as made:
        made.init_transactions()
        yield made


def write(producer: KafkaProducer, *records: tuple[int, bytes, bytes]) -> None:
    """Partition, key and value of each, in a transaction that is still open afterwards."""
    producer.begin_transaction()
    for partition, key, value in records:
        producer.send(TOPIC, partition=partition, key=key, value=value)
    producer.flush()


def values(bootstrap: str) -> list[bytes]:
    return [arrival.value for arrival in read_topic(bootstrap, TOPIC)]


def test_a_topic_that_ends_with_a_marker_is_read_to_its_end(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"k", b"first"), (0, b"k", b"second"))
    producer.commit_transaction()
    write(producer, (0, b"k", b"third"))
    producer.commit_transaction()
    with closing(TopicEnds(bootstrap)) as ends:
        assert ends.of(TOPIC) == {0: 5, 1: 0}, "three records and two markers"
    assert values(bootstrap) == [b"first", b"second", b"third"]
    with TopicTail(bootstrap, TOPIC) as tail:
        assert [record.value for record in tail.last(4)] == [b"second", b"third"]


def test_what_is_not_committed_was_not_emitted(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"k", b"first"))
    producer.commit_transaction()
    write(producer, (0, b"k", b"aborted"), (1, b"k", b"aborted too"))
    producer.abort_transaction()
    assert values(bootstrap) == [b"first"]
    write(producer, (0, b"k", b"open"))
    assert values(bootstrap) == [b"first"]
    producer.commit_transaction()
    assert values(bootstrap) == [b"first", b"open"]


def test_deferred_entries_in_transactions(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"source/0/%019d" % 1, b"{}"), (0, b"source/0/%019d" % 2, b"{}"))
    producer.commit_transaction()
    with closing(DeferralTopic(bootstrap, TOPIC)) as topic:
        assert topic.catch_up() == 2


def test_the_pipelines_own_tools_read_such_a_topic_to_its_end(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"k", b"event"))
    producer.commit_transaction()
    with opened_topic(bootstrap, TOPIC) as topic:
        bounds = topic.bounds()
        assert bounds.end == {0: 2, 1: 0}
        assert [record.value for record in topic.records(bounds.first, bounds.end)] == [b"event"]
