"""docs/runbooks/cluster-migration.md, with a second broker, where the same events have other offsets.

Checked beside what the page shows: the new output topic has each event that has to have an output, by its id.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import read_topic
from devkit.stack.parts.local_kafka import start_kafka
from devkit.stack.topics import recreate_topics
from tests.integration.runbooks.conftest import MakeOperator

ROOMS = ("docs/runbooks", "pipeline/ops")


@pytest.fixture
def new_cluster(tmp_path: Path) -> Iterator[str]:
    with Guardian() as guardian:
        broker, parts = start_kafka(guardian, tmp_path / "kafka-new")
        for part in parts:
            part.await_ready()
        yield broker.direct


@pytest.mark.slow
def test_the_page(make_operator: MakeOperator, new_cluster: str) -> None:
    operator = make_operator("cluster-migration.md")
    bench = operator.bench
    operator.names = {"kafka-new-1:9092": new_cluster}
    config = bench.config
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(bench.is_drained, "all events to be emitted")
    recreate_topics(
        new_cluster, {name: (1, {}) for name in (config.source.topic, config.sink.topic, config.sink.error_topic)}
    )
    records = all_of(bench.bootstrap, config.source.topic)
    # Other offsets: the new topic begins with something else.
    mirror(new_cluster, config.source.topic, [*records[:3], *records])

    for heading in ("First check", "Stop the job on the old cluster", "The job's file", "Start on the new cluster"):
        operator.step(heading)
    expected = {orjson.loads(one.value)["meta"]["id"] for one in bench.outputs()}
    operator.until(
        lambda: ids(new_cluster, config.sink.topic) == expected, "all events to be emitted in the new cluster"
    )
    operator.until(operator.has_nothing_left, "the last batch to be committed")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0


def ids(bootstrap: str, topic: str) -> set[str]:
    return {orjson.loads(one.value)["meta"]["id"] for one in read_topic(bootstrap, topic)}


def all_of(bootstrap: str, topic: str) -> list[Any]:
    """All records of a topic's only partition."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=20_000)) as consumer:
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        return [next(consumer) for _ in range(consumer.end_offsets([place])[place])]


def mirror(bootstrap: str, topic: str, records: list[Any]) -> None:
    """As a mirror does: key, value and time are the record's."""
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for one in records:
            producer.send(topic, key=one.key, value=one.value, timestamp_ms=one.timestamp, partition=0)
        producer.flush()
