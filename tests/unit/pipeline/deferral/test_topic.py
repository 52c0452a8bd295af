"""Reading the ledger's topic to its end, and no longer than its broker is heard of."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka.errors import KafkaError, KafkaTimeoutError, OffsetOutOfRangeError
from kafka.structs import TopicPartition

from pipeline.deferral import topic as module
from pipeline.deferral.ledger_start import LedgerStart
from pipeline.deferral.topic import LedgerTopic, LogRecord
from pipeline.deferral.topic_settings import TopicFacts
from pipeline.deferral.wire import NullRecord
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import Record

TOPIC = "ledger"


@dataclass
class Fetched:
    """A record as kafka-python has it."""

    partition: int
    offset: int
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: Sequence[tuple[str, bytes | None]] = ()


@dataclass
class Consumer:
    """Answers each poll with the next of `answers`, of which None is silence; `now` grows by a second each time."""

    ends: dict[int, int]
    answers: deque[list[Fetched] | None] = field(default_factory=deque)
    positions: dict[int, int | None] = field(default_factory=dict)
    now: float = 0.0
    failure: KafkaError | None = None
    sought: int = 0

    def clock(self) -> float:
        return self.now

    def assignment(self) -> set[TopicPartition]:
        return {TopicPartition(TOPIC, number) for number in self.ends}

    def seek_to_beginning(self, *places: TopicPartition) -> None:
        self.sought += 1
        self.positions |= dict.fromkeys((place.partition for place in places), 0)

    def end_offsets(self, places: list[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]:
        if self.failure:
            raise self.failure
        return {place: self.ends[place.partition] for place in places}

    def position(self, place: TopicPartition, timeout_ms: int | None = None) -> int | None:
        assert timeout_ms is not None, "without one it may wait for ever"
        return self.positions.setdefault(place.partition, 0)

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Fetched]]:
        self.now += 1
        records = self.answers.popleft() if self.answers else None
        if records is None:
            return {}
        found: dict[TopicPartition, list[Fetched]] = {}
        for record in records:
            found.setdefault(TopicPartition(TOPIC, record.partition), []).append(record)
            self.positions[record.partition] = record.offset + 1
        return found


@dataclass
class Ack:
    failure: KafkaError | None = None
    waited_for: bool = False

    def get(self, timeout: float) -> None:
        self.waited_for = True
        if self.failure:
            raise self.failure


@dataclass
class Producer:
    failures: list[KafkaError | None] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)

    def send(self, topic: str, **fields: Any) -> Ack:
        self.sent.append(fields)
        self.acks.append(Ack(self.failures.pop(0) if self.failures else None))
        return self.acks[-1]


def reading(consumer: Consumer) -> LedgerTopic:
    topic = LedgerTopic("broker:1", TOPIC, 1000, clock=consumer.clock)
    topic._consumer = consumer
    return topic


def writing(producer: Producer) -> LedgerTopic:
    topic = LedgerTopic("broker:1", TOPIC, 1000)
    topic._producer = producer
    return topic


def test_all_partitions_are_read_to_the_ends_of_the_beginning() -> None:
    consumer = Consumer({0: 2, 1: 1}, deque([[Fetched(0, 0)], None, [Fetched(1, 0), Fetched(0, 1)], [Fetched(0, 2)]]))
    topic = reading(consumer)
    assert [(record.partition, record.offset) for record in topic.read()] == [(0, 0), (1, 0), (0, 1)]
    consumer.ends[0] = 3
    assert [(record.partition, record.offset) for record in topic.read()] == [(0, 2)], "it goes on where it was"
    assert list(topic.read()) == []
    assert consumer.sought == 0


def test_what_others_write_meanwhile_may_come_along() -> None:
    """A slow round writes while the driver reads: the fetch that reaches the end may go beyond it."""
    consumer = Consumer({0: 1}, deque([[Fetched(0, 0), Fetched(0, 1), Fetched(0, 2)]]))
    topic = reading(consumer)
    assert [record.offset for record in topic.read()] == [0, 1, 2]
    consumer.ends[0] = 3
    assert list(topic.read()) == []


def test_it_begins_again_when_asked() -> None:
    consumer = Consumer({0: 1}, deque([[Fetched(0, 0)]]), positions={0: 1})
    assert len(list(reading(consumer).read(from_beginning=True))) == 1
    assert consumer.sought == 1


def test_records_are_read_as_they_are() -> None:
    fetched = Fetched(0, 0, key=None, value=None, headers=[("a", b"1"), ("b", None)])
    (record,) = reading(Consumer({0: 1}, deque([[fetched]]))).read()
    assert record == LogRecord(0, 0, None, None, (("a", b"1"), ("b", b"")))


def test_an_end_without_a_record_is_reached_by_position() -> None:
    """Compaction may take away what stood at the end."""
    consumer = Consumer({0: 5}, deque([[Fetched(0, 4)]]))
    assert [record.offset for record in reading(consumer).read()] == [4]


def test_a_broker_that_says_nothing_is_given_up() -> None:
    consumer = Consumer({0: 2}, deque([[Fetched(0, 0)]]))
    with pytest.raises(PipelineError, match="ledger could not be read: no news of its end for 60 s") as caught:
        list(reading(consumer).read())
    assert "the topic was deleted" in str(caught.value.hint)
    assert 60 < consumer.now < 65


def test_a_broker_that_says_little_is_not() -> None:
    silence: list[list[Fetched] | None] = [None] * 50
    answers = [step for offset in range(4) for step in (*silence, [Fetched(0, offset)])]
    assert len(list(reading(Consumer({0: 4}, deque(answers))).read())) == 4


def test_a_beginning_that_is_not_known_yet_is_waited_for() -> None:
    consumer = Consumer({0: 1}, deque([None, [Fetched(0, 0)]]), positions={0: None})
    assert len(list(reading(consumer).read())) == 1


def test_a_topic_that_was_made_again_is_an_error() -> None:
    """To read on from there would be to take for nothing what it held."""
    consumer = Consumer({0: 3}, positions={0: 7})
    with pytest.raises(PipelineError, match="ends at 3 in partition 0 and was read to 7") as caught:
        list(reading(consumer).read())
    assert "made again" in str(caught.value.hint)


@pytest.mark.parametrize("failure", [KafkaTimeoutError("too slow"), OffsetOutOfRangeError("gone")])
def test_what_kafka_raises_names_the_topic(failure: KafkaError) -> None:
    with pytest.raises(PipelineError, match="ledger topic ledger could not be read") as caught:
        list(reading(Consumer({0: 1}, failure=failure)).read())
    assert "the topic was deleted" in str(caught.value.hint), "a client is told of a timeout only"


RECORDS = [Record(TOPIC, b"a", b"1", (("h", b"x"),)), NullRecord(TOPIC, b"b", ())]


def test_every_write_is_awaited() -> None:
    producer = Producer()
    writing(producer).write(RECORDS)
    assert [(one["key"], one["value"], one["headers"], one["partition"]) for one in producer.sent] == [
        (b"a", b"1", [("h", b"x")], None),
        (b"b", None, [], None),
    ]
    assert all(ack.waited_for for ack in producer.acks)


def test_what_is_on_its_way_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would hold all of it, and its last records would be too late before they are sent."""
    monkeypatch.setattr(module, "_UNACKED_BYTES", 1000)
    unacked: list[list[int]] = []

    class Watched(Producer):
        def send(self, topic: str, **fields: Any) -> Ack:
            waiting = [len(one["value"]) for one, ack in zip(self.sent, self.acks, strict=True) if not ack.waited_for]
            unacked.append([*waiting, len(fields["value"])])
            return super().send(topic, **fields)

    producer = Watched()
    writing(producer).write([Record(TOPIC, b"k", bytes(size), ()) for size in (300, 300, 300, 2000, 300, 300)])
    # The record's 90 bytes come on top of its value.
    assert unacked == [[300], [300, 300], [300], [2000], [300], [300, 300]]
    assert all(ack.waited_for for ack in producer.acks)
    producer.sent.clear()
    producer.acks.clear()
    unacked.clear()
    writing(producer).write([Record(TOPIC, b"k", bytes(300), ())] * 2, partitions=[0, 1])
    assert unacked == [[300], [300, 300], [300], [300, 300]], "each copy counts"


def test_a_record_can_go_to_every_partition() -> None:
    producer = Producer()
    writing(producer).write(RECORDS[:1], partitions=[0, 1, 2])
    assert [one["partition"] for one in producer.sent] == [0, 1, 2]


def test_one_refused_record_fails_the_write() -> None:
    producer = Producer(failures=[None, KafkaTimeoutError("no answer")])
    with pytest.raises(PipelineError, match=r"ledger topic ledger could not be written: .*no answer"):
        writing(producer).write(RECORDS)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """The settings with which clients are made."""
    settings: dict[str, dict[str, Any]] = {}

    class Opened(Consumer):
        def partitions_for_topic(self, topic: str) -> set[int]:
            return {1, 0} if topic == TOPIC else set()

        def assign(self, places: list[TopicPartition]) -> None:
            self.ends = {place.partition: 0 for place in places}

    monkeypatch.setattr(module, "KafkaConsumer", lambda **given: settings.setdefault("consumer", given) and Opened({}))
    monkeypatch.setattr(module, "KafkaProducer", lambda **given: settings.setdefault("producer", given) and Producer())
    monkeypatch.setattr(
        module, "require_topic", lambda *_, max_record_bytes, start: TopicFacts(max_record_bytes - 100, "id-1")
    )
    return settings


def test_it_stands_at_the_beginning_when_open_and_makes_no_topic_by_looking(made: dict[str, dict[str, Any]]) -> None:
    topic = LedgerTopic("broker:1", TOPIC, 1000)
    topic.open(LedgerStart())
    assert topic.partitions() == [0, 1]
    assert list(topic.read()) == []
    assert (topic.limit_bytes, topic.id) == (900, "id-1")
    assert (made["consumer"]["allow_auto_create_topics"], made["producer"]["allow_auto_create_topics"]) == (False,) * 2
    assert made["consumer"]["auto_offset_reset"] == "none"
    assert (made["producer"]["acks"], made["producer"]["enable_idempotence"]) == ("all", True)


def test_a_look_does_not_make_it(made: dict[str, dict[str, Any]]) -> None:
    topic = LedgerTopic("broker:1", TOPIC, 1000)
    topic.open()
    assert topic.limit_bytes == 1000
    with pytest.raises(PipelineError, match="ledger topic other at broker:1 is not there") as caught:
        LedgerTopic("broker:1", "other", 1000).open()
    assert "it was deleted, and docs/runbooks/ledger-lost.md" in str(caught.value.hint)


@pytest.mark.parametrize("failure", [KafkaError("no brokers"), OSError("no such host")])
def test_no_broker_names_the_address(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(*_: Any, **__: Any) -> int:
        raise failure

    monkeypatch.setattr(module, "require_topic", fail)
    with pytest.raises(PipelineError, match=r"ledger topic ledger at broker:1 cannot be used: .*no ") as caught:
        LedgerTopic("broker:1", TOPIC, 1000).open(LedgerStart())
    assert not isinstance(caught.value, RefusedError), "a restart may help"
