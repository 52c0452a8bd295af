"""Faults by the broker's own interface, on real brokers: what each does to clients, and that its end ends it."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from kafka import KafkaProducer
from kafka.errors import MessageSizeTooLargeError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import Acting, Context, Fault, Undo
from devkit.faults.kafka.cluster import Cluster, cluster
from devkit.guardian import Guardian
from devkit.stack.embedded import start_embedded
from devkit.stack.stack import Stack, StackRequest
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until

pytestmark = pytest.mark.slow  # three brokers
TOPIC = "faults.out"
DEADLINE_S = 30.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Three brokers, that some of the faults are about."""
    with Guardian() as guardian:
        yield start_embedded(guardian, tmp_path_factory.mktemp("brokers"), StackRequest(brokers=3))


@pytest.fixture(autouse=True)
def topic(stack: Stack) -> None:
    recreate_topics(stack.kafka.direct, {TOPIC: (2, {"retention.ms": "86400000"})})


@pytest.fixture
def kafka(stack: Stack) -> Iterator[Cluster]:
    with cluster(stack.kafka.direct) as found:
        yield found


class Case:
    """A fault with the plans that it made."""

    def __init__(self, stack: Stack, written: dict[str, object]) -> None:
        self.plans: list[Undo] = []
        self.fault: Fault = parse_do(written)
        self.context = Context(stack.parts, stack.kafka.direct, self.plans.append, topics={"output": TOPIC})

    def begin(self) -> Acting:
        return self.fault.begin(self.context)


def sent(stack: Stack, size: int) -> None:
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send(TOPIC, b"x" * size, partition=0).get(DEADLINE_S)


def test_partitions_are_added_and_stay(stack: Stack, kafka: Cluster) -> None:
    case = Case(stack, {"add_partitions": {"topic": "output", "partitions": 5}})
    proof = case.begin().end()
    assert (proof.acted, proof.did) == (True, f"topic {TOPIC} had 2 partitions and has 5")
    assert len(kafka.partitions(TOPIC)) == 5
    assert [plan.irreversible for plan in case.plans] == [f"topic {TOPIC} has 5 partitions where it had 2"]
    with pytest.raises(StackError, match="has 5 partitions, and can only get more"):
        case.begin()


def test_a_topic_is_made_again_without_its_records_and_with_its_settings(stack: Stack, kafka: Cluster) -> None:
    sent(stack, 10)
    case = Case(stack, {"recreate_topic": {"topic": "output"}})
    proof = case.begin().end()
    assert proof.acted
    assert "deleted with 1 records" in proof.did
    assert kafka.records(TOPIC) == 0
    assert len(kafka.partitions(TOPIC)) == 2
    assert kafka.settings(TOPIC)["retention.ms"] == "86400000"
    assert case.plans[0].irreversible == f"the 1 records that topic {TOPIC} had are gone"
    sent(stack, 10)


def await_settings(kafka: Cluster, settings: dict[str, str]) -> None:
    """Each broker knows of a change in its own time."""
    deadline = timedelta(seconds=DEADLINE_S)
    wait_until(lambda: kafka.settings(TOPIC) == settings, what=f"settings {settings}", deadline=deadline)


def test_a_smaller_limit_refuses_records_until_it_ends(stack: Stack, kafka: Cluster) -> None:
    before = kafka.settings(TOPIC)
    case = Case(stack, {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000}}})
    acting = case.begin()
    with pytest.raises(MessageSizeTooLargeError):
        sent(stack, 5000)
    proof = acting.end()
    assert (proof.acted, "max.message.bytes 1000" in proof.did) == (True, True)
    await_settings(kafka, before)
    sent(stack, 5000)


def test_the_journal_alone_restores_settings(stack: Stack, kafka: Cluster) -> None:
    before = kafka.settings(TOPIC)
    settings = {"max.message.bytes": 1000, "retention.ms": 5}
    case = Case(stack, {"topic_settings": {"topic": TOPIC, "settings": settings}})
    case.begin()
    await_settings(kafka, before | {"max.message.bytes": "1000", "retention.ms": "5"})
    (plan,) = case.plans
    case.fault.undo(Undo.model_validate_json(plan.model_dump_json()))
    await_settings(kafka, before)


def produce_for(stack: Stack, records: int, size: int) -> float:
    began = time.monotonic()
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, client_id="held", acks="all")) as producer:
        for _ in range(records):
            producer.send(TOPIC, b"x" * size, partition=0).get(DEADLINE_S)
    return time.monotonic() - began


def test_a_quota_holds_clients_back_until_it_ends(stack: Stack) -> None:
    """20 records of 50 kB at 100 kB/s want ten seconds less the burst that the broker's window allows."""
    free_s = produce_for(stack, 20, 50_000)
    case = Case(stack, {"client_quota": {"client": "held", "produce": 20_000}})
    acting = case.begin()
    held_s = produce_for(stack, 20, 50_000)
    proof = acting.end()
    assert held_s > free_s + 5
    assert (proof.acted, "producer_byte_rate 20000 for client held" in proof.did) == (True, True)
    again = Case(stack, {"client_quota": {"client": "held", "fetch": 1}})
    again.begin()
    again.fault.undo(again.plans[0])
    second = case.begin()
    case.fault.undo(case.plans[-1])
    assert not second.end().acted


def test_another_broker_leads_until_the_end(stack: Stack, kafka: Cluster) -> None:
    before = kafka.partition(TOPIC, 0)
    case = Case(stack, {"move_leader": {"topic": "output", "partition": 0}})
    acting = case.begin()
    moved = kafka.partition(TOPIC, 0)
    assert moved.leader != before.leader
    sent(stack, 10)
    proof = acting.end()
    assert proof.acted
    assert f"broker {moved.leader} led partition 0" in proof.did
    assert kafka.partition(TOPIC, 0).leader == before.leader
    with pytest.raises(StackError, match="none of number 9"):
        Case(stack, {"move_leader": {"topic": "output", "partition": 9}}).begin()


def test_a_partition_moves_under_a_throttle(stack: Stack, kafka: Cluster) -> None:
    kafka.admin.create_topics({"one": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    try:
        before = kafka.partition("one", 0).replicas
        target = next(broker for broker in kafka.brokers() if broker not in before)
        with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap)) as producer:
            for _ in range(20):
                producer.send("one", b"x" * 900_000).get(DEADLINE_S)
        case = Case(stack, {"reassign": {"topic": "one", "to": [target], "throttle": 1000}})
        acting = case.begin()
        assert kafka.is_moving("one", 0)
        assert "leader.replication.throttled.replicas" in kafka.settings("one")
        proof = acting.end()
        assert (proof.acted, "still moving, which was cancelled" in proof.did) == (True, True)
        assert kafka.partition("one", 0).replicas == before
        assert "leader.replication.throttled.replicas" not in kafka.settings("one")
        fast = Case(stack, {"reassign": {"topic": "one", "to": [target], "throttle": "100MiB"}})
        acting = fast.begin()
        deadline = timedelta(seconds=DEADLINE_S)
        wait_until(lambda: not kafka.is_moving("one", 0), what="the move to end", deadline=deadline)
        assert "had moved" in acting.end().did
        assert kafka.partition("one", 0).replicas == (target,)
    finally:
        kafka.admin.delete_topics(["one"])
