"""What the kit shows of a running broker, store and pipeline position.

Set-up: the session's stack, topics of the test's own, a checkpoint in Spark's layout. Checked: figures and records.
"""

from dataclasses import replace

import pytest
from kafka import KafkaProducer

from devkit.debug.program_lag import lag_of
from devkit.debug.tail import TopicTail
from devkit.debug.topic_info import topics_at
from devkit.errors import StackError, UsageError
from devkit.guardian import Guardian
from devkit.observe.checkpoint import Checkpoint
from devkit.stack.stack import CHECKPOINTS, Stack
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import Deferral, MediaWiki, PipelineConfig, Sink, Source

ROOMS = ("devkit/debug",)
SOURCE, DEFERRED = "look.source", "look.deferred"
NOW_MS = 1_790_000_100_000


@pytest.fixture(scope="module")
def bootstrap(stack: tuple[Guardian, Stack]) -> str:
    """Twenty records in two partitions, one a second, and a tombstone; one deferred event."""
    _, running = stack
    kafka = running.kafka.bootstrap
    recreate_topics(kafka, {SOURCE: (2, {"max.message.bytes": "100000"}), DEFERRED: (1, {"cleanup.policy": "compact"})})
    producer = KafkaProducer(bootstrap_servers=kafka)
    for number in range(20):
        producer.send(
            SOURCE,
            partition=number % 2,
            key=b"\xff",
            value=b"%d" % number,
            headers=[("claim-check-key", b"k")],
            timestamp_ms=NOW_MS - 20_000 + number * 1000,
        )
    producer.send(SOURCE, partition=0, key=b"gone", value=None, timestamp_ms=NOW_MS)
    producer.send(DEFERRED, key=f"{SOURCE}/0/{4:019d}".encode(), value=b"{}")
    producer.flush()
    producer.close()
    return kafka


def config(bootstrap: str, *, policy: str = "defer") -> PipelineConfig:
    return PipelineConfig(
        source=Source(bootstrap_servers=bootstrap, topic=SOURCE),
        sink=Sink(bootstrap_servers=bootstrap),
        mediawiki=MediaWiki(endpoint="http://127.0.0.1:1"),
        checkpoint=f"s3a://{CHECKPOINTS}/look",
        deferral=Deferral.model_validate({"topic": DEFERRED, "policy": policy}),
    )


def test_topics(bootstrap: str) -> None:
    found = {topic.name: topic for topic in topics_at(bootstrap)}
    source = found[SOURCE]
    assert source.stored_bytes is not None
    assert source.stored_bytes > 20
    assert replace(source, stored_bytes=0) == replace(
        source, partitions=2, records=21, stored_bytes=0, cleanup_policy="delete", max_message_bytes=100_000
    )
    assert found[DEFERRED].cleanup_policy == "compact"
    assert not [name for name in found if name.startswith("__")]


def test_the_last_records_of_all_partitions_in_the_order_of_time(bootstrap: str) -> None:
    with TopicTail(bootstrap, SOURCE) as tail:
        last = tail.last(4)
        assert [record.value for record in last] == [b"17", b"18", b"19", None]
        assert [(record.partition, record.offset) for record in last] == [(1, 8), (0, 9), (1, 9), (0, 10)]
        assert last[0].headers == (("claim-check-key", b"k"),)
        assert len(tail.last(1000)) == 21
        assert tail.last(0) == []


def test_following_goes_on_where_the_last_ones_ended(bootstrap: str) -> None:
    topic = "look.follow"
    recreate_topics(bootstrap, {topic: (1, {})})
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    with TopicTail(bootstrap, topic) as tail:
        producer.send(topic, value=b"before")
        producer.flush()
        assert [record.value for record in tail.last(5)] == [b"before"]
        producer.send(topic, value=b"after")
        producer.flush()
        assert next(tail.following()).value == b"after"
    producer.close()


def test_a_topic_that_is_not_there(bootstrap: str) -> None:
    with pytest.raises(UsageError, match=r"there is no topic look\.sauce"):
        TopicTail(bootstrap, "look.sauce")


class TestLag:
    @pytest.fixture
    def checkpoint(self, stack: tuple[Guardian, Stack]) -> Checkpoint:
        client = stack[1].object_store.client()
        offsets = f'v1\n{{}}\n{{"{SOURCE}": {{"0": 4, "1": 10}}}}'
        client.put_object(Bucket=CHECKPOINTS, Key="look/offsets/0", Body=offsets.encode())
        client.put_object(Bucket=CHECKPOINTS, Key="look/commits/0", Body=b"v1\n{}")
        return Checkpoint(client, CHECKPOINTS, "look", (SOURCE,))

    def test_of_each_partition_with_the_age_of_the_oldest(self, bootstrap: str, checkpoint: Checkpoint) -> None:
        lag = lag_of(config(bootstrap), checkpoint, bootstrap=bootstrap, now_ms=NOW_MS)
        first, second = lag.partitions
        assert (first.committed, first.end, first.lag, first.behind_s) == (4, 11, 7, 12.0)
        assert (second.committed, second.end, second.lag, second.behind_s) == (10, 10, 0, None)
        assert (lag.total, lag.deferred) == (7, 1)

    def test_before_the_first_commit(self, bootstrap: str, stack: tuple[Guardian, Stack]) -> None:
        nothing = Checkpoint(stack[1].object_store.client(), CHECKPOINTS, "look-nowhere", (SOURCE,))
        lag = lag_of(config(bootstrap, policy="none"), nothing, bootstrap=bootstrap, now_ms=NOW_MS)
        assert [(part.committed, part.lag, part.behind_s) for part in lag.partitions] == [
            (None, 11, 20.0),
            (None, 10, 19.0),
        ]
        assert (lag.total, lag.deferred) == (21, None)

    def test_of_two_topics(self, bootstrap: str, stack: tuple[Guardian, Stack], checkpoint: Checkpoint) -> None:
        two = Source(bootstrap_servers=bootstrap, topics=(SOURCE, DEFERRED))
        lag = lag_of(
            config(bootstrap, policy="none").model_copy(update={"source": two}),
            checkpoint,
            bootstrap=bootstrap,
            now_ms=NOW_MS,
        )
        assert [(part.topic, part.partition, part.lag) for part in lag.partitions] == [
            (SOURCE, 0, 7),
            (SOURCE, 1, 0),
            (DEFERRED, 0, 1),
        ]

    def test_a_source_that_is_not_there(self, bootstrap: str, checkpoint: Checkpoint) -> None:
        gone = config(bootstrap).model_copy(
            update={"source": Source(bootstrap_servers=bootstrap, topic="look.nowhere")}
        )
        with pytest.raises(StackError, match=r"there is no topic look\.nowhere"):
            lag_of(gone, checkpoint, bootstrap=bootstrap, now_ms=NOW_MS)
