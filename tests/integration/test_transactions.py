"""Topics that a transactional producer writes to: offsets that are no records, and records that do not count.

Set-up: the session's stack, and topics of the test's own whose last offsets are transactions' markers. Checked: every
look comes to its end, the audit reads what is committed, and the job too.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from kafka import KafkaProducer

from devkit.debug.tail import TopicTail
from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import read_topic
from devkit.observe.kafka.deferrals import DeferralTopic
from devkit.stack.stack import Stack
from devkit.stack.topics import TopicEnds, recreate_topics
from pipeline.ops.source import opened_topic
from tests.integration.crash.bench import Bench
from tests.integration.ended_transactions import abort, commit

ROOMS = ("devkit/debug", "devkit/observe", "pipeline/ops")
TOPIC = "transactions.output"
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "100/s", "for": "100ms", "population": 4}


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
    commit(producer, bootstrap, TOPIC)
    write(producer, (0, b"k", b"third"))
    commit(producer, bootstrap, TOPIC)
    with closing(TopicEnds(bootstrap)) as ends:
        assert ends.of(TOPIC) == {0: 5, 1: 0}, "three records and two markers"
    assert values(bootstrap) == [b"first", b"second", b"third"]
    with TopicTail(bootstrap, TOPIC) as tail:
        assert [record.value for record in tail.last(4)] == [b"second", b"third"]


def test_what_is_not_committed_was_not_emitted(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"k", b"first"))
    commit(producer, bootstrap, TOPIC)
    write(producer, (0, b"k", b"aborted"), (1, b"k", b"aborted too"))
    abort(producer, bootstrap, TOPIC)
    assert values(bootstrap) == [b"first"]
    write(producer, (0, b"k", b"open"))
    assert values(bootstrap) == [b"first"]
    commit(producer, bootstrap, TOPIC)
    assert values(bootstrap) == [b"first", b"open"]


def test_deferred_entries_in_transactions(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"source/0/%019d" % 1, b"{}"), (0, b"source/0/%019d" % 2, b"{}"))
    commit(producer, bootstrap, TOPIC)
    with closing(DeferralTopic(bootstrap, TOPIC)) as topic:
        assert topic.catch_up() == 2


def test_the_pipelines_own_tools_read_such_a_topic_to_its_end(bootstrap: str, producer: KafkaProducer) -> None:
    write(producer, (0, b"k", b"event"))
    commit(producer, bootstrap, TOPIC)
    with opened_topic(bootstrap, TOPIC) as topic:
        bounds = topic.bounds()
        assert bounds.end == {0: 2, 1: 0}
        assert [record.value for record in topic.records(bounds.first, bounds.end)] == [b"event"]


def test_the_job_enriches_no_event_of_an_aborted_transaction(
    make_bench: Callable[..., Bench], producer: KafkaProducer
) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    source, count = bench.config.source.topic, bench.source_end()
    with opened_topic(bench.bootstrap, source) as topic:
        bounds = topic.bounds()
        events = list(topic.records(bounds.first, bounds.end))
    producer.begin_transaction()
    for event in events:
        producer.send(source, partition=event.partition, key=event.key, value=event.value)
    producer.flush()
    abort(producer, bench.bootstrap, source)
    assert bench.source_end() == 2 * count + 1
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == 2 * count + 1, "the source to be read to its end")
    assert run.terminate() == 0, run.process.last_words(20)
    bench.assert_clean(restarted=False)
    with opened_topic(bench.bootstrap, source) as topic:
        assert list(topic.records({0: count}, topic.bounds().end)) == [], "neither do the operators' commands see it"
