"""A real broker behind the TCP proxy, to which its advertised address leads clients: each toxic's effect, and its end.

The kit's own way to the broker is not looked at here; it is that of the stack.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError, KafkaTimeoutError

from devkit.guardian import Guardian
from devkit.proxy.client import ProxyControl
from devkit.proxy.proof import Counts
from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.blackhole import Blackhole
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.half_open import HalfOpen
from devkit.proxy.toxics.latency import Latency
from devkit.proxy.toxics.reset import Reset
from devkit.proxy.toxics.toxic import Toxic
from devkit.stack.parts import kafka
from devkit.stack.ports import free_port
from devkit.waiting import wait_until

DEADLINE = timedelta(seconds=30)
TOPIC = "proxied"
PARTITION = TopicPartition(TOPIC, 0)


class Bench:
    """A producer and a consumer whose connections are open."""

    def __init__(self, control: ProxyControl, address: str) -> None:
        self._control, self.address = control, address
        self._open = ExitStack()
        self.producer = self._made(KafkaProducer(bootstrap_servers=address, acks="all", linger_ms=0, **RECONNECT))
        self.consumer = self.new_consumer()
        self._said = 0

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

    def add(self, toxic: Toxic, direction: Any = "both") -> None:
        self._control.add("kafka", "t", toxic, direction=direction)

    @property
    def counts(self) -> Counts:
        return self._control.toxic("kafka", "t").counts

    def remove(self) -> Counts:
        return self._control.remove("kafka", "t").counts

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
def address(guardian: Guardian, control: ProxyControl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where clients reach the broker: the proxy, whose address the broker advertises."""
    port = free_port()
    proxied = control.listen("kafka", f"127.0.0.1:{port}").address
    plain = kafka.render_properties

    def advertised_by_proxy(**kwargs: Any) -> str:
        return plain(**kwargs | {"advertised": f"PLAINTEXT://{proxied}"})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kafka, "render_properties", advertised_by_proxy)
        _, part = kafka.start_kafka(guardian, tmp_path_factory.mktemp("kafka"), port=port)
        part.await_ready()
    with closing(KafkaAdminClient(bootstrap_servers=proxied)) as admin:
        admin.create_topics([NewTopic(TOPIC, 1, 1)])
    yield proxied
    control.close("kafka")


@pytest.fixture
def bench(control: ProxyControl, address: str) -> Iterator[Bench]:
    bench = Bench(control, address)
    bench.works(b"before")
    yield bench
    bench.close()


def test_latency_delays_what_is_produced(bench: Bench) -> None:
    bench.add(Latency(time=timedelta(milliseconds=300)), "to_server")
    began = time.monotonic()
    bench.send(b"late").get(DEADLINE.total_seconds())
    assert time.monotonic() - began >= 0.3
    counts = bench.remove()
    assert counts.connections >= 1
    assert counts.bytes_delayed > len(b"late")
    bench.works(b"after")


def test_bandwidth_bounds_what_is_consumed(bench: Bench) -> None:
    bench.add(Bandwidth(rate=100_000), "to_client")
    began = time.monotonic()
    value = b"w" * 60_000
    bench.send(value)
    assert bench.receive(value) - began >= 0.6
    assert bench.remove().bytes_delayed >= 60_000
    bench.works(b"after")


def test_a_cut_is_a_broker_that_is_gone_and_comes_back(bench: Bench) -> None:
    bench.add(Cut())
    waiting = bench.send(b"meanwhile")
    with pytest.raises(KafkaTimeoutError):
        waiting.get(0.5)
    with pytest.raises(KafkaError):
        KafkaConsumer(bootstrap_servers=bench.address, bootstrap_timeout_ms=500)
    counts = bench.remove()
    assert counts.connections >= 2
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"meanwhile")


def test_a_blackhole_keeps_connections_and_delivers_at_its_end(bench: Bench) -> None:
    before = connections(bench)
    bench.add(Blackhole())
    waiting = bench.send(b"held")
    wait_until(lambda: bench.counts.bytes_delayed > 0, what="the request to be held", deadline=DEADLINE)
    assert not waiting.is_done
    assert bench.remove().bytes_dropped == 0
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"held")
    assert connections(bench) == before


def test_a_reset_ends_connections_until_it_ends(bench: Bench) -> None:
    bench.add(Reset())
    waiting = bench.send(b"again")
    wait_until(lambda: bench.counts.connections >= 3, what="new connections to be reset", deadline=DEADLINE)
    assert not waiting.is_done
    bench.remove()
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"again")


def test_half_open_leaves_the_producer_waiting_until_rst_tells_it(bench: Bench) -> None:
    bench.add(HalfOpen(), "to_server")
    waiting = bench.send(b"into nothing")
    wait_until(lambda: bench.counts.bytes_dropped > 0, what="the request to be swallowed", deadline=DEADLINE)
    assert not waiting.is_done
    later = bench.new_consumer()  # connections made later work
    assert later.position(PARTITION) is not None
    bench.remove()
    waiting.get(DEADLINE.total_seconds())
    bench.receive(b"into nothing")


def connections(bench: Bench) -> int:
    [listener] = [one for one in bench._control.listeners() if one.name == "kafka"]
    return listener.connections
