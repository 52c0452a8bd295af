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


def reading(ends: dict[int, int], *answers: list[Fetched] | None, **consumer: Any) -> tuple[LedgerTopic, Consumer]:
    made = Consumer(ends, deque(answers), **consumer)
    topic = LedgerTopic("broker:1", TOPIC, 1000, clock=made.clock)
    topic._consumer = made
    return topic, made


def writing(producer: Producer) -> LedgerTopic:
    topic = LedgerTopic("broker:1", TOPIC, 1000)
    topic._producer = producer
    return topic


def places(topic: LedgerTopic, **how: bool) -> list[tuple[int, int]]:
    return [(record.partition, record.offset) for record in topic.read(**how)]


def test_all_partitions_are_read_to_the_ends_of_the_beginning() -> None:
    topic, consumer = reading(
        {0: 2, 1: 1}, [Fetched(0, 0)], None, [Fetched(1, 0), Fetched(0, 1)], [Fetched(0, 2)], [Fetched(0, 0)]
    )
    assert places(topic) == [(0, 0), (1, 0), (0, 1)]
    consumer.ends[0] = 3
    assert places(topic) == [(0, 2)], "it goes on where it was"
    assert places(topic) == []
    assert consumer.sought == 0
    consumer.ends = {0: 1}
    assert places(topic, from_beginning=True) == [(0, 0)]
    assert consumer.sought == 1


SILENCE: list[list[Fetched] | None] = [None] * 50


@pytest.mark.parametrize(
    ("end", "answers", "position", "found"),
    [
        pytest.param(1, [[Fetched(0, at) for at in range(3)]], 0, [0, 1, 2], id="what others write may come along"),
        pytest.param(5, [[Fetched(0, 4)]], 0, [4], id="an end without a record is reached by position"),
        pytest.param(1, [None, [Fetched(0, 0)]], None, [0], id="a beginning that is not known yet is waited for"),
        pytest.param(2, [*SILENCE, [Fetched(0, 0)], *SILENCE, [Fetched(0, 1)]], 0, [0, 1], id="a broker says little"),
    ],
)
def test_it_is_read_to_its_end(
    end: int, answers: list[list[Fetched] | None], position: int | None, found: list[int]
) -> None:
    """A slow round writes while the driver reads, and compaction may take away what stood at the end."""
    topic, consumer = reading({0: end}, *answers, positions={0: position})
    assert places(topic) == [(0, offset) for offset in found]
    consumer.ends[0] = found[-1] + 1
    assert places(topic) == []


def test_records_are_read_as_they_are() -> None:
    topic, _ = reading({0: 1}, [Fetched(0, 0, key=None, value=None, headers=[("a", b"1"), ("b", None)])])
    assert list(topic.read()) == [LogRecord(0, 0, None, None, (("a", b"1"), ("b", b"")))]


UNREADABLE = "ledger topic ledger could not be read"


@pytest.mark.parametrize(
    ("consumer", "after_s", "message", "hint"),
    [
        ({}, 60, f"{UNREADABLE}: no news of its end for 60 s", "the topic was deleted"),
        # To read on from there would be to take for nothing what it held.
        ({"positions": {0: 7}}, 0, "ends at 3 in partition 0 and was read to 7", "made again"),
        # A client is told of a timeout only.
        ({"failure": KafkaTimeoutError("too slow")}, 0, UNREADABLE, "the topic was deleted"),
        ({"failure": OffsetOutOfRangeError("gone")}, 0, UNREADABLE, "the topic was deleted"),
    ],
    ids=["a broker that says nothing", "a topic that was made again", "a timeout", "an offset out of range"],
)
def test_what_cannot_be_read_names_the_topic(consumer: dict[str, Any], after_s: int, message: str, hint: str) -> None:
    topic, broken = reading({0: 3}, [Fetched(0, 0)], **consumer)
    with pytest.raises(PipelineError, match=message) as caught:
        places(topic)
    assert hint in str(caught.value.hint)
    assert after_s <= broken.now < after_s + 5


RECORDS = [Record(TOPIC, b"a", b"1", (("h", b"x"),)), NullRecord(TOPIC, b"b", ())]


FIRST = (b"a", b"1", [("h", b"x")])


@pytest.mark.parametrize(
    ("records", "partitions", "sent"),
    [
        (RECORDS, [None], [(*FIRST, None), (b"b", None, [], None)]),
        (RECORDS[:1], [0, 1, 2], [(*FIRST, 0), (*FIRST, 1), (*FIRST, 2)]),
    ],
    ids=["to the partition of its key", "to every partition"],
)
def test_every_write_is_awaited(records: list[Any], partitions: list[int | None], sent: list[Any]) -> None:
    producer = Producer()
    writing(producer).write(records, partitions=partitions)
    assert [(one["key"], one["value"], one["headers"], one["partition"]) for one in producer.sent] == sent
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
