"""Of each partition a prefix of what was sent lands, up to the first record that is refused, whichever that is."""

import functools
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import (
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    TopicAuthorizationFailedError,
)

from pipeline.config.kafka_section import Kafka
from pipeline.config.pipeline_config import Sink
from pipeline.errors import PipelineError
from pipeline.records.record import Record
from pipeline.worker import ordered_writer as module
from pipeline.worker.ordered_writer import OrderedWriter, ordered_producer
from tests.unit.pipeline.deferral.producing import NotingProducer

TOPICS = ("out", "error")
EVENTS = st.lists(st.tuples(st.sampled_from(TOPICS), st.sampled_from("ab"), st.booleans()), max_size=12)


@dataclass
class Ack:
    producer: "Producer"
    errbacks: list[Callable[[Exception], None]] = field(default_factory=list)
    done: bool = False
    error: Exception | None = None

    def add_errback(self, errback: Callable[[Exception], None]) -> None:
        self.errbacks.append(errback)
        if self.error:
            errback(self.error)

    def get(self) -> None:
        while not self.done:
            self.producer.step()
        if self.error:
            raise self.error

    def end(self, error: Exception | None) -> None:
        self.done, self.error = True, error
        for errback in self.errbacks if error else ():
            errback(error)


@dataclass
class Producer:
    """As Kafka's: it gives up on a record that is refused, and goes on with the next one. A topic has one partition;
    `steps` says which of them come further by themselves, at each send.
    """

    refuses: Callable[[int], bool] = lambda _: False
    steps: list[set[str]] = field(default_factory=list)
    error: KafkaError = field(default_factory=MessageSizeTooLargeError)
    landed: list[tuple[bytes, int]] = field(default_factory=list)
    closed: bool = False
    _queues: dict[str, deque[tuple[bytes, int, Ack]]] = field(default_factory=lambda: {one: deque() for one in TOPICS})
    _count: int = 0

    @property
    def _sender(self) -> "Producer":
        return self

    def force_close(self) -> None:
        self.closed = True

    def send(self, topic: str, *, key: bytes, value: bytes, headers: list[Any]) -> Ack:
        if self.closed:
            raise IllegalStateError("RecordAccumulator is closed")
        ack = Ack(self)
        self._queues[topic].append((key, self._count, ack))
        self._count += 1
        for moving in self.steps.pop() if self.steps else ():
            self._step(moving)
        return ack

    def flush(self) -> None:
        for topic in TOPICS:
            while self._queues[topic]:
                self._step(topic)

    def step(self) -> None:
        for topic in TOPICS:
            self._step(topic)

    def _step(self, topic: str) -> None:
        if not self._queues[topic]:
            return
        key, number, ack = self._queues[topic].popleft()
        if self.closed:
            ack.end(IllegalStateError("Producer is closed forcefully."))
        elif self.refuses(number):
            ack.end(self.error)
        else:
            self.landed.append((key, number))
            ack.end(None)


@given(EVENTS, st.lists(st.sets(st.sampled_from(TOPICS))), st.integers(1, 2000))
def test_what_lands_of_a_page_is_a_prefix(
    events: list[tuple[str, str, bool]], steps: list[set[str]], unacked_bytes: int
) -> None:
    producer: Any = Producer(lambda number: events[number][2], steps)
    writer = OrderedWriter(lambda: producer)
    records = [Record(topic, page.encode(), bytes(number), ()) for number, (topic, page, _) in enumerate(events)]

    def write() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_UNACKED_BYTES", unacked_bytes)
            writer.send(records)
            writer.flush()

    if any(refused for *_, refused in events):
        with pytest.raises(PipelineError, match=r"topic (out|error) refused a record of \d+ bytes: MessageSize"):
            write()
    else:
        write()
        assert len(producer.landed) == len(events)
    for page in "ab":
        numbers = [number for number, (_, of, _) in enumerate(events) if of == page]
        landed = [number for key, number in producer.landed if key == page.encode()]
        assert landed == numbers[: len(landed)]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MessageSizeTooLargeError(None), "topic out refused a record of 90 bytes: MessageSizeTooLargeError"),
        # By these words `pipeline.errors.failure` knows that no restart can help.
        (TopicAuthorizationFailedError("out"), "TopicAuthorizationFailedError: out"),
    ],
)
def test_a_refusal_names_topic_and_size(error: KafkaError, says: str) -> None:
    producer: Any = Producer(lambda _: True, error=error)
    writer = OrderedWriter(lambda: producer)
    writer.send([Record("out", b"p", b"html", ())])
    with pytest.raises(PipelineError, match=f"{says}$"):
        writer.flush()


def test_nothing_is_awaited_that_was_not_sent() -> None:
    OrderedWriter(Producer).flush()  # type: ignore[arg-type]


def test_what_is_on_its_way_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_UNACKED_BYTES", 1000)
    producer: Any = NotingProducer()
    writer = OrderedWriter(lambda: producer)
    writer.send([Record("out", b"p", bytes(400), ())] * 6)
    assert max(producer.before) == 1
    writer.flush()
    assert all(one.acked for one in producer.sent)


class Arguments(dict[str, Any]):
    DEFAULT_CONFIG: Mapping[str, Any] = {}


def sink(timeout_s: int | None = None) -> Sink:
    timeout = None if timeout_s is None else timedelta(seconds=timeout_s)
    return Sink(bootstrap_servers="b:1", topic="o", error_topic="e", delivery_timeout=timeout)


@pytest.mark.parametrize(("timeout_s", "ms"), [(None, 2**31 - 1), (5, 5000)])
def test_it_tries_as_long_as_sparks_sink(monkeypatch: pytest.MonkeyPatch, timeout_s: int | None, ms: int) -> None:
    monkeypatch.setattr(module, "KafkaProducer", Arguments)
    given: Any = ordered_producer(sink(timeout_s), Kafka(compression="zstd"))
    assert (given["delivery_timeout_ms"], given["max_block_ms"]) == (ms, ms)
    # The client's own rule, by which it refuses to be made.
    assert given["linger_ms"] + given["request_timeout_ms"] <= ms
    assert (given["acks"], given["enable_idempotence"], given["compression_type"]) == ("all", True, "zstd")


@pytest.mark.parametrize(("timeout_s", "tries"), [(None, 3), (5, 1)])
def test_brokers_that_are_away_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, timeout_s: int | None, tries: int
) -> None:
    tried: Counter[str] = Counter()

    def away(**_: Any) -> str:
        tried["away"] += 1
        if tried["away"] < 3:
            raise KafkaTimeoutError("no answer")
        return "connected"

    monkeypatch.setattr(module, "KafkaProducer", away)
    make = functools.partial(ordered_producer, sink(timeout_s), Kafka())
    if timeout_s is None:
        assert make() == "connected"
    else:
        with pytest.raises(KafkaTimeoutError):
            make()
    assert tried["away"] == tries
