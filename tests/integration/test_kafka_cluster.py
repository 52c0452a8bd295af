"""Three brokers of the embedded stack: each topic is on all of them, and one may die and come back.

Set-up: a cluster, its brokers behind the proxy. Checked: what programs are told leads through the proxy, what the kit
uses does not; records are taken with a broker dead, whichever it is, and it has them when it is there again.
"""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

from devkit.guardian import Guardian
from devkit.stack.embedded import start_embedded
from devkit.stack.stack import Stack, StackRequest
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until

ROOMS = ("devkit/stack",)
BROKERS = ("kafka-1", "kafka-2", "kafka-3")
DEADLINE = timedelta(seconds=60)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Guardian() as guardian:
        request = StackRequest(brokers=3, proxied=frozenset({"kafka"}))
        yield start_embedded(guardian, tmp_path_factory.mktemp("cluster"), request)


def ports_told(bootstrap: str) -> set[str]:
    """What brokers tell a client that begins there."""
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        return {f"{broker['host']}:{broker['port']}" for broker in admin.describe_cluster()["brokers"]}


@pytest.mark.slow
def test_programs_are_led_through_the_proxy_and_the_kit_is_not(stack: Stack) -> None:
    assert stack.proxy is not None
    listeners = {one.name: one for one in stack.proxy.listeners() if one.layer == "tcp"}
    assert listeners.keys() == set(BROKERS)
    assert ports_told(stack.kafka.bootstrap) == set(stack.kafka.bootstrap.split(","))
    assert {one.address for one in listeners.values()} == set(stack.kafka.bootstrap.split(","))
    met = sum(one.connections for one in stack.proxy.listeners())
    assert met
    assert ports_told(stack.kafka.direct) == set(stack.kafka.direct.split(","))
    assert sum(one.connections for one in stack.proxy.listeners()) == met


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKERS)
def test_a_broker_may_die_and_come_back(stack: Stack, name: str) -> None:
    topic = f"of-{name}"
    recreate_topics(stack.kafka.direct, {topic: (3, {})})
    with (
        closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all", retries=100)) as producer,
        stack.excused(name),
    ):
        stack.part(name).pull("kill")
        sent = [producer.send(topic, b"meanwhile", partition=partition) for partition in range(3)]
        assert [one.get(DEADLINE.total_seconds()).offset for one in sent] == [0, 0, 0]
        stack.part(name).pull("restart")
    stack.require_running()
    node = BROKERS.index(name) + 1
    wait_until(lambda: in_sync(stack.kafka.direct, topic, node), what=f"{name} to be in sync", deadline=DEADLINE)
    with closing(KafkaConsumer(bootstrap_servers=stack.kafka.direct)) as consumer:
        ends = consumer.end_offsets([TopicPartition(topic, partition) for partition in range(3)])
    assert list(ends.values()) == [1, 1, 1]


def in_sync(bootstrap: str, topic: str, node: int) -> bool:
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        (described,) = admin.describe_topics([topic])
    return all(len(one["replica_nodes"]) == 3 and node in one["isr_nodes"] for one in described["partitions"])
