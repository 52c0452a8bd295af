"""A real broker behind the proxy: errors of Kafka's protocol as Python's and Java's clients meet them."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import (
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
)

from devkit.jvm import jars
from devkit.jvm.runtime import java_command
from devkit.proxy.kafka.api import APIS
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.waiting import wait_until
from tests.integration.proxy.fault import PlayedFault

ROOMS = ("devkit/faults", "devkit/proxy")
pytestmark = pytest.mark.xdist_group("proxy")
DEADLINE = timedelta(seconds=30)
RECONNECT = {"reconnect_backoff_ms": 20, "reconnect_backoff_max_ms": 100, "retry_backoff_ms": 50}

LOG4J = """\
Configuration:
  Appenders:
    Console: {name: out, PatternLayout: {pattern: "%p %m (%c)%n"}}
  Loggers:
    Root: {level: INFO, AppenderRef: [{ref: out}]}
"""


class Bench:
    """A topic of two partitions, and clients that reach it through the proxy."""

    def __init__(self, front: Front, broker: KafkaBroker, topic: str) -> None:
        self.broker, self.topic, self.fault = broker, topic, PlayedFault(front)
        self._open = ExitStack()
        with closing(KafkaAdminClient(bootstrap_servers=broker.direct)) as admin:
            admin.create_topics([NewTopic(topic, 2, 1)])

    def begin(self, error: str, api: str, **more: object) -> None:
        by_topic = {"topic": self.topic} if api in ("produce", "fetch") else {}
        self.fault.begin({"kafka_error": {"error": error, "api": api, **by_topic, **more}})

    def producer(self, **settings: object) -> Any:
        made = KafkaProducer(bootstrap_servers=self.broker.bootstrap, acks="all", **{**RECONNECT, **settings})
        return self._open.enter_context(closing(made))

    def consumer(self, **settings: object) -> Any:
        settings = {"fetch_max_wait_ms": 100, **RECONNECT, **settings}
        return self._open.enter_context(closing(KafkaConsumer(bootstrap_servers=self.broker.bootstrap, **settings)))

    def stored(self, partition: int = 0) -> list[bytes]:
        """What the broker has, read past the proxy."""
        place = TopicPartition(self.topic, partition)
        with closing(KafkaConsumer(bootstrap_servers=self.broker.direct)) as consumer:
            consumer.assign([place])
            consumer.seek_to_beginning(place)
            end = consumer.end_offsets([place])[place]
            values = list[bytes]()

            def all_read() -> bool:
                values.extend(record.value for record in consumer.poll(100).get(place, []))
                return bool(consumer.position(place) >= end)

            wait_until(all_read, what="the kit's consumer to read all", deadline=DEADLINE)
        return values

    def close(self) -> None:
        self._open.close()


@pytest.fixture
def bench(front: Front, broker: KafkaBroker) -> Iterator[Bench]:
    bench = Bench(front, broker, f"topic-{uuid4().hex[:8]}")
    yield bench
    bench.close()


def send(producer: Any, topic: str, value: bytes, partition: int = 0) -> Any:
    return producer.send(topic, value=value, partition=partition).get(DEADLINE.total_seconds())


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("not_leader_or_follower", NotLeaderForPartitionError),
        ("message_too_large", MessageSizeTooLargeError),
        ("not_enough_replicas", NotEnoughReplicasError),
    ],
)
def test_a_producer_without_retries_meets_the_error(bench: Bench, error: str, raised: type[Exception]) -> None:
    producer = bench.producer(retries=0, enable_idempotence=False)
    send(producer, bench.topic, b"before")
    bench.begin(error, "produce", partition=0)
    with pytest.raises(raised):
        send(producer, bench.topic, b"refused")
    send(producer, bench.topic, b"elsewhere", partition=1)
    assert bench.fault.end().requests == 1
    send(producer, bench.topic, b"after")
    assert (bench.stored(), bench.stored(1)) == ([b"before", b"after"], [b"elsewhere"])


def test_a_producer_that_retries_gets_through_a_share_of_refusals(bench: Bench) -> None:
    producer = bench.producer(retries=20, linger_ms=0)
    bench.begin("not_leader_or_follower", "produce", share="50%")
    values = [b"%d" % number for number in range(20)]
    for value in values:
        send(producer, bench.topic, value)
    assert bench.fault.end().requests >= 5
    assert bench.stored() == values


@pytest.mark.parametrize("error", ["lost_answer", "request_timed_out"])
@pytest.mark.parametrize("idempotent", [False, True])
def test_a_record_that_was_stored_is_sent_again(bench: Bench, error: str, idempotent: bool) -> None:
    producer = bench.producer(retries=20, enable_idempotence=idempotent)
    bench.begin(error, "produce", times=1)
    send(producer, bench.topic, b"again")
    assert bench.fault.end().requests == 1
    assert bench.stored() == ([b"again"] if idempotent else [b"again"] * 2)


def test_a_consumer_of_a_fetch_session_meets_offset_out_of_range_and_reads_on_after_it(bench: Bench) -> None:
    place = TopicPartition(bench.topic, 0)
    producer, consumer = bench.producer(), bench.consumer(auto_offset_reset="none")
    send(producer, bench.topic, b"before")
    consumer.assign([place])
    consumer.seek(place, 0)
    values = list[bytes]()

    def got(value: bytes) -> bool:
        values.extend(record.value for record in consumer.poll(100).get(place, []))
        return value in values

    wait_until(lambda: got(b"before"), what="the consumer to read", deadline=DEADLINE)
    bench.begin("offset_out_of_range", "fetch")

    def fails() -> bool:
        try:
            consumer.poll(100)
        except OffsetOutOfRangeError:
            return True
        return False

    wait_until(fails, what="the consumer to fail", deadline=DEADLINE)
    bench.fault.end()
    consumer.seek(place, 0)
    send(producer, bench.topic, b"after")
    wait_until(lambda: got(b"after"), what="the consumer to read on", deadline=DEADLINE)


@pytest.mark.parametrize(
    ("error", "api"),
    [
        ("coordinator_not_available", "find_coordinator"),
        ("coordinator_load_in_progress", "join_group"),
        ("not_coordinator", "sync_group"),
        ("coordinator_load_in_progress", "offset_fetch"),
    ],
)
def test_a_member_of_a_group_comes_in_when_the_coordinator_is_there(bench: Bench, error: str, api: str) -> None:
    send(bench.producer(), bench.topic, b"first")
    bench.begin(error, api, times=2)
    consumer = bench.consumer(group_id=bench.topic, auto_offset_reset="earliest")
    consumer.subscribe([bench.topic])
    values = list[bytes]()

    def got() -> bool:
        values.extend(record.value for records in consumer.poll(100).values() for record in records)
        return b"first" in values

    wait_until(got, what="the member to read", deadline=DEADLINE)
    assert bench.fault.end().requests == 2


def test_a_throttled_answer_names_the_time(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    producer = bench.producer()
    bench.begin("throttled", "produce", throttle="300ms", times=1)
    send(producer, bench.topic, b"slowly")
    assert bench.fault.end().requests == 1
    assert "throttled by broker (300 ms)" in caplog.text


def test_the_codec_knows_every_version_that_the_broker_does(broker: KafkaBroker) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=broker.direct)) as admin:
        offered = admin.api_versions()
    unknown = {api.name: offered[key] for key, api in APIS.items() if not api.knows(offered[key][1])}
    assert unknown == {}


@pytest.mark.slow
def test_java_s_producer_and_consumer_meet_errors_and_get_through(bench: Bench, tmp_path: Path) -> None:
    bench.begin("not_leader_or_follower", "produce", times=3)
    produced = console(bench, tmp_path, "org.apache.kafka.tools.ConsoleProducer", given="one\ntwo\n")
    assert bench.fault.end().requests == 3
    assert "NOT_LEADER_OR_FOLLOWER" in produced
    assert sorted(bench.stored() + bench.stored(1)) == [b"one", b"two"]
    reading = ("--from-beginning", "--max-messages", "2")
    # It says nothing of the second one, and looks for the leader again.
    for error, says in (("offset_out_of_range", "out of range"), ("fenced_leader_epoch", "")):
        bench.begin(error, "fetch", times=1)
        consumed = console(bench, tmp_path, "org.apache.kafka.tools.consumer.ConsoleConsumer", *reading)
        assert bench.fault.end().requests == 1
        assert says in consumed
        assert sorted(line for line in consumed.splitlines() if line in ("one", "two")) == ["one", "two"]


@pytest.mark.slow
def test_java_s_producer_that_is_fenced_writes_nothing_more(bench: Bench, tmp_path: Path) -> None:
    bench.begin("producer_fenced", "init_producer_id", times=1)
    produced = console(bench, tmp_path, "org.apache.kafka.tools.ConsoleProducer", given="one\n")
    assert bench.fault.end().requests == 1
    assert "ProducerFencedException" in produced
    assert bench.stored() + bench.stored(1) == []


def console(bench: Bench, directory: Path, tool: str, *options: str, given: str = "") -> str:
    """What one of Kafka's own tools writes, its log included."""
    log4j = directory / "log4j2.yaml"
    log4j.write_text(LOG4J)
    command = java_command(
        tool,
        ("--bootstrap-server", bench.broker.bootstrap, "--topic", bench.topic, *options),
        classpath=jars.ensure(jars.KAFKA),
        heap_bytes=128 << 20,
        properties={"log4j2.configurationFile": str(log4j)},
    )
    ended = subprocess.run(
        command, input=given, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout
