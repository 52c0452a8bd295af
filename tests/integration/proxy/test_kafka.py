"""A real broker behind the TCP proxy, to which its advertised address leads: each fault of the network, and its end."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError, KafkaTimeoutError

from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.waiting import wait_until
from tests.integration.proxy.fault import PlayedFault

ROOMS = ("devkit/faults", "devkit/proxy")
pytestmark = pytest.mark.xdist_group("proxy")
DEADLINE = timedelta(seconds=30)
TOPIC = "proxied"
PARTITION = TopicPartition(TOPIC, 0)


class Bench:
    """A producer and a consumer whose connections are open."""

    def __init__(self, front: Front, address: str) -> None:
        self.control, self.address, self.fault = front.control, address, PlayedFault(front)
        self._open = ExitStack()
        self.producer = self._made(KafkaProducer(bootstrap_servers=address, acks="all", linger_ms=0, **RECONNECT))
        self.consumer = self.new_consumer()
        self._sent = 0

    def new_consumer(self) -> Any:
        consumer = self._made(KafkaConsumer(bootstrap_servers=self.address, fetch_max_wait_ms=100, **RECONNECT))
        consumer.assign([PARTITION])
        consumer.seek_to_end(PARTITION)
        consumer.position(PARTITION)
        return consumer

    def _made(self, client: Any) -> Any:
        return self._open.enter_context(closing(client))

    def close(self) -> None:
        self._open.close()

    def send(self, value: bytes) -> Any:
        return self.producer.send(TOPIC, value=value, partition=0)

    def receive(self, value: bytes) -> float:
        """Wait until the consumer has got it; returns when that was."""

        def got() -> bool:
            return any(record.value == value for record in self.consumer.poll(100).get(PARTITION, []))

        wait_until(got, what=f"the consumer to get {value[:20]!r}", deadline=DEADLINE)
        return time.monotonic()

    def works(self, value: bytes) -> None:
        self.send(value).get(DEADLINE.total_seconds())
        self.receive(value)


RECONNECT = {"reconnect_backoff_ms": 20, "reconnect_backoff_max_ms": 100, "retry_backoff_ms": 50}


@pytest.fixture(scope="module")
def address(broker: KafkaBroker) -> str:
    """Where clients reach the broker: the proxy, whose address the broker advertises."""
    with closing(KafkaAdminClient(bootstrap_servers=broker.direct)) as admin:
        admin.create_topics([NewTopic(TOPIC, 1, 1)])
    return broker.bootstrap


@pytest.fixture
def bench(front: Front, address: str) -> Iterator[Bench]:
    bench = Bench(front, address)
    bench.works(b"before")
    yield bench
    bench.close()


def test_latency_delays_what_is_produced(bench: Bench) -> None:
    bench.fault.begin({"network_latency": {"part": "kafka", "time": "300ms", "direction": "to_server"}})
    began = time.monotonic()
    bench.send(b"late").get(DEADLINE.total_seconds())
    assert time.monotonic() - began >= 0.3
    counts = bench.fault.end()
    assert counts.connections >= 1
    assert counts.bytes_delayed > len(b"late")
    bench.works(b"after")


def test_bandwidth_bounds_what_is_consumed(bench: Bench) -> None:
    bench.fault.begin({"network_bandwidth": {"part": "kafka", "rate": "100kB", "direction": "to_client"}})
    began = time.monotonic()
    value = b"w" * 60_000
    bench.send(value)
    assert bench.receive(value) - began >= 0.6
    assert bench.fault.end().bytes_delayed >= 60_000
    bench.works(b"after")


def test_a_cut_is_a_broker_that_is_gone_and_comes_back(bench: Bench) -> None:
    bench.fault.begin({"network_cut": {"part": "kafka"}})
    waiting = bench.send(b"meanwhile")
    with pytest.raises(KafkaTimeoutError):
        waiting.get(0.5)
    with pytest.raises(KafkaError):
        KafkaConsumer(bootstrap_servers=bench.address, bootstrap_timeout_ms=500)
    counts = bench.fault.end()
    assert counts.connections >= 2
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"meanwhile")


def test_a_blackhole_keeps_connections_and_delivers_at_its_end(bench: Bench) -> None:
    before = connections(bench)
    bench.fault.begin({"network_blackhole": {"part": "kafka"}})
    waiting = bench.send(b"held")
    wait_until(lambda: bench.fault.counts.bytes_delayed > 0, what="the request to be held", deadline=DEADLINE)
    assert not waiting.is_done
    assert bench.fault.end().bytes_dropped == 0
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"held")
    assert connections(bench) == before


def test_a_reset_ends_connections_until_it_ends(bench: Bench) -> None:
    bench.fault.begin({"network_reset": {"part": "kafka"}})
    waiting = bench.send(b"again")
    wait_until(lambda: bench.fault.counts.connections >= 3, what="new connections to be reset", deadline=DEADLINE)
    assert not waiting.is_done
    bench.fault.end()
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"again")


def test_half_open_leaves_the_producer_waiting_until_rst_tells_it(bench: Bench) -> None:
    bench.fault.begin({"network_half_open": {"part": "kafka", "direction": "to_server"}})
    waiting = bench.send(b"into nothing")
    wait_until(lambda: bench.fault.counts.bytes_dropped > 0, what="the request to be swallowed", deadline=DEADLINE)
    assert not waiting.is_done
    later = bench.new_consumer()  # connections made later work
    assert later.position(PARTITION) is not None
    bench.fault.end()
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"into nothing")


def connections(bench: Bench) -> int:
    [listener] = [one for one in bench.control.listeners() if one.name == "kafka"]
    return listener.connections
