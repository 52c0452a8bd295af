"""Faults by the broker's own interface, on real brokers: what each does to clients, and that its end ends it."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import MessageSizeTooLargeError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import Acting, Context, Fault, Undo
from devkit.faults.kafka.cluster import Cluster, becomes_true, cluster
from devkit.guardian import Guardian
from devkit.stack.embedded import start_embedded
from devkit.stack.stack import Stack, StackRequest
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until

ROOMS = ("devkit/faults",)
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
    assert becomes_true(lambda: len(kafka.partitions(TOPIC)) == 5)
    assert [plan.irreversible for plan in case.plans] == [f"topic {TOPIC} has 5 partitions where it had 2"]
    with pytest.raises(StackError, match="has 5 partitions, and can only get more"):
        case.begin()


def test_a_topic_is_made_again_without_its_records_and_with_its_settings(stack: Stack, kafka: Cluster) -> None:
    sent(stack, 10)
    case = Case(stack, {"recreate_topic": {"topic": "output"}})
    proof = case.begin().end()
    assert proof.acted
    assert "deleted with 1 record by its end offsets" in proof.did
    assert kafka.records(TOPIC) == 0
    assert len(kafka.partitions(TOPIC)) == 2
    assert kafka.settings(TOPIC)["retention.ms"] == "86400000"
    assert case.plans[0].irreversible == f"the records that topic {TOPIC} had are gone"
    sent(stack, 10)


def await_settings(kafka: Cluster, settings: dict[str, str]) -> None:
    """Each broker knows of a change in its own time."""
    deadline = timedelta(seconds=DEADLINE_S)
    wait_until(lambda: kafka.settings(TOPIC) == settings, what=f"settings {settings}", deadline=deadline)


def test_a_smaller_limit_refuses_records_until_it_ends(stack: Stack, kafka: Cluster) -> None:
    before = {"retention.ms": "86400000"}
    await_settings(kafka, before)
    case = Case(stack, {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000}}})
    acting = case.begin()
    with pytest.raises(MessageSizeTooLargeError):
        sent(stack, 5000)
    proof = acting.end()
    assert (proof.acted, "max.message.bytes 1000" in proof.did) == (True, True)
    await_settings(kafka, before)
    sent(stack, 5000)


def test_the_journal_alone_restores_settings(stack: Stack, kafka: Cluster) -> None:
    before = {"retention.ms": "86400000"}
    await_settings(kafka, before)
    # Nobody has set `segment.ms`, here or on the brokers.
    settings = {"max.message.bytes": 1000, "retention.ms": 5, "segment.ms": 3_600_000}
    case = Case(stack, {"topic_settings": {"topic": TOPIC, "settings": settings}})
    case.begin()
    await_settings(kafka, before | {key: str(value) for key, value in settings.items()})
    (plan,) = case.plans
    case.fault.undo(Undo.model_validate_json(plan.model_dump_json()))
    await_settings(kafka, before)


@dataclass(frozen=True)
class Carried:
    """What a client got through the broker, in bytes and seconds, and the longest that the broker held it back."""

    size: int
    lasted_s: float
    longest_throttle_ms: float

    def most(self, rate: int) -> float:
        """What a quota of so many bytes a second lets through in that time: the broker looks at eleven seconds of it,
        and says to wait only with the answer that was too much."""
        return rate * (self.lasted_s + QUOTA_WINDOW_S) + RECORD_BYTES * AT_ONCE


QUOTA_WINDOW_S, RECORD_BYTES, RECORDS, AT_ONCE = 11, 50_000, 20, 4


def produced(stack: Stack) -> Carried:
    began = time.monotonic()
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, client_id="held", acks="all")) as producer:
        for _ in range(RECORDS):
            producer.send(TOPIC, b"x" * RECORD_BYTES, partition=0).get(DEADLINE_S * 2)
        return Carried(RECORDS * RECORD_BYTES, time.monotonic() - began, throttled_ms(producer.metrics()))


def consumed(stack: Stack) -> Carried:
    began, records = time.monotonic(), 0
    place = TopicPartition(TOPIC, 0)
    options = {"client_id": "held", "max_partition_fetch_bytes": RECORD_BYTES, "fetch_max_bytes": RECORD_BYTES}
    with closing(KafkaConsumer(bootstrap_servers=stack.kafka.bootstrap, **options)) as consumer:
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        while records < RECORDS:
            assert time.monotonic() < began + DEADLINE_S * 4, f"{records} records came"
            records += sum(map(len, consumer.poll(1000).values()))
        return Carried(RECORDS * RECORD_BYTES, time.monotonic() - began, throttled_ms(consumer.metrics()))


def throttled_ms(metrics: Mapping[str, Mapping[str, float]]) -> float:
    """The longest time that a broker told the client in an answer that it was held back."""
    return max(
        value for group in metrics.values() for name, value in group.items() if name.endswith("throttle-time-max")
    )


@pytest.mark.parametrize(("kind", "carry"), [("produce", produced), ("fetch", consumed)])
def test_a_quota_holds_clients_back_until_it_ends(stack: Stack, kind: str, carry: Callable[[Stack], Carried]) -> None:
    """Asked of the broker: 1 MB as fast as it goes. Let through: the quota's rate, after the burst of its window."""
    rate = 50_000
    produced(stack)
    free = carry(stack)
    assert free.longest_throttle_ms == 0
    case = Case(stack, {"client_quota": {"client": "held", kind: rate}})
    acting = case.begin()
    held = carry(stack)
    assert held.longest_throttle_ms > 0, "the broker said so"
    assert held.size <= held.most(rate)
    proof = acting.end()
    assert (proof.acted, f"_byte_rate {rate} for client held" in proof.did) == (True, True)
    # Each broker hears of it in its own time.
    wait_until(
        lambda: carry(stack).longest_throttle_ms == 0,
        what="the broker to hold nobody back",
        deadline=timedelta(seconds=DEADLINE_S),
    )


def test_the_journal_alone_takes_a_quota_away(stack: Stack) -> None:
    case = Case(stack, {"client_quota": {"client": "held", "fetch": 1}})
    acting = case.begin()
    case.fault.undo(Undo.model_validate_json(case.plans[0].model_dump_json()))
    assert not acting.end().acted


def test_another_broker_leads_until_the_end(stack: Stack, kafka: Cluster) -> None:
    before = kafka.partition(TOPIC, 0)
    case = Case(stack, {"move_leader": {"topic": "output", "partition": 0}})
    acting = case.begin()
    assert becomes_true(lambda: kafka.partition(TOPIC, 0).leader != before.leader)
    moved = kafka.partition(TOPIC, 0)
    sent(stack, 10)
    proof = acting.end()
    assert proof.acted
    assert f"broker {moved.leader} led partition 0" in proof.did
    assert becomes_true(lambda: kafka.partition(TOPIC, 0).leader == before.leader)
    with pytest.raises(StackError, match="none of number 9"):
        Case(stack, {"move_leader": {"topic": "output", "partition": 9}}).begin()


@pytest.fixture
def one(stack: Stack, kafka: Cluster) -> Iterator[str]:
    """A topic on one broker, with enough in it that a throttled move takes hours."""
    kafka.admin.create_topics({"one": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap)) as producer:
        for _ in range(20):
            producer.send("one", b"x" * 900_000).get(DEADLINE_S)
    yield "one"
    kafka.admin.delete_topics(["one"])


RATES = RATE, _ = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
THROTTLED = "leader.replication.throttled.replicas"


def test_a_partition_moves_under_a_throttle(stack: Stack, kafka: Cluster, one: str) -> None:
    before = kafka.partition(one, 0).replicas
    target = next(broker for broker in kafka.brokers() if broker not in before)
    case = Case(stack, {"reassign": {"topic": one, "to": [target], "throttle": 1000}})
    acting = case.begin()
    assert kafka.is_moving(one, 0)
    assert becomes_true(lambda: THROTTLED in kafka.settings(one))
    proof = acting.end()
    assert (proof.acted, "still moving, which was cancelled" in proof.did) == (True, True)
    assert becomes_true(lambda: kafka.partition(one, 0).replicas == before)
    assert becomes_true(lambda: THROTTLED not in kafka.settings(one))
    fast = Case(stack, {"reassign": {"topic": one, "to": [target], "throttle": "100MiB"}})
    acting = fast.begin()
    deadline = timedelta(seconds=DEADLINE_S)
    wait_until(lambda: not kafka.is_moving(one, 0), what="the move to end", deadline=deadline)
    assert "had moved" in acting.end().did
    assert becomes_true(lambda: kafka.partition(one, 0).replicas == (target,))


def test_a_throttle_of_before_is_there_again_after_it_and_after_its_holder_was_killed(
    stack: Stack, kafka: Cluster, one: str
) -> None:
    """The end as the fault itself brings it, and as the journal alone does. Another move is not touched."""
    (home,) = kafka.partition(one, 0).replicas
    target = next(broker for broker in kafka.brokers() if broker != home)
    earlier = {RATE: "777777"}
    kafka.alter_broker(home, dict(earlier))
    kafka.alter_topic(one, {THROTTLED: "*"})
    try:
        for by_journal in (False, True):
            case = Case(stack, {"reassign": {"topic": one, "to": [target], "throttle": 1000}})
            acting = case.begin()
            assert kafka.is_moving(one, 0)
            assert becomes_true(lambda: kafka.broker_settings(home) == dict.fromkeys(RATES, "1000"))
            assert becomes_true(lambda: kafka.settings(one).get(THROTTLED) == f"0:{home}")
            with pytest.raises(StackError, match="partition 0 of one is being moved already"):
                Case(stack, {"reassign": {"topic": one, "to": [target]}}).begin()
            if by_journal:
                case.fault.undo(Undo.model_validate_json(case.plans[0].model_dump_json()))
            else:
                assert "still moving, which was cancelled" in acting.end().did
            assert not kafka.is_moving(one, 0)
            assert becomes_true(lambda: kafka.partition(one, 0).replicas == (home,))
            assert becomes_true(lambda: kafka.settings(one).get(THROTTLED) == "*")
            await_broker_settings(kafka, {broker: earlier if broker == home else {} for broker in kafka.brokers()})
    finally:
        kafka.alter_broker(home, {RATE: None})


def await_broker_settings(kafka: Cluster, settings: dict[int, dict[str, str]]) -> None:
    """Each broker knows of a change in its own time."""
    wait_until(
        lambda: {broker: kafka.broker_settings(broker) for broker in settings} == settings,
        what=f"settings {settings}",
        deadline=timedelta(seconds=DEADLINE_S),
    )


def test_what_the_broker_refuses_is_said_in_its_words(stack: Stack, kafka: Cluster, one: str) -> None:
    twice = Case(stack, {"reassign": {"topic": one, "to": [2, 2]}})
    with pytest.raises(StackError, match=r"did not move partition 0 of one to .*InvalidReplicationAssignment"):
        twice.begin()
    twice.fault.undo(twice.plans[0])
    with pytest.raises(StackError, match=r"did not change settings of topic one: .*max\.message\.bytes"):
        Case(stack, {"topic_settings": {"topic": one, "settings": {"max.message.bytes": "many"}}}).begin()
    await_broker_settings(kafka, {broker: {} for broker in kafka.brokers()})


def test_a_fault_ends_also_where_a_broker_is_dead_for_a_while(stack: Stack, kafka: Cluster) -> None:
    """The one that led, which is to be preferred again, and which alone can lift its throttle.

    Who leads then is not checked: Kafka may have given it the lead before it noticed that it is dead.
    """
    before = kafka.partition(TOPIC, 0).leader
    other = next(broker for broker in kafka.brokers() if broker != before)
    led = Case(stack, {"move_leader": {"topic": "output", "partition": 0}})
    moved = Case(stack, {"reassign": {"topic": "output", "partition": 1, "to": [before, other]}})
    acting = [led.begin(), moved.begin()]
    killed = Case(stack, {"kill": {"part": f"kafka-{before}"}})
    with stack.excused(f"kafka-{before}"):
        dead = killed.begin()
        with ThreadPoolExecutor() as pool:
            ends = [pool.submit(one.end) for one in acting]
            assert dead.end().acted
            assert ends[0].result().acted
            ends[1].result()
    assert becomes_true(lambda: kafka.partition(TOPIC, 0).replicas[0] == before)
    await_broker_settings(kafka, {broker: {} for broker in kafka.brokers()})
