"""Reading a topic, from a consumer that the test fills; the real broker's side is in the integration tests."""

import itertools
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.stack import topic_reader as consumer_module

Record = namedtuple("Record", "offset value headers timestamp key", defaults=[b"", (), 1_790_000_000_000, None])
SOURCE_HEADERS = [("source-topic", b"page_change"), ("source-partition", b"0000000003"), ("source-offset", b"0042")]


@dataclass
class Consumer:
    """`partitions` maps a number to its records; `ends` says where the broker thinks they end, `begins` where the log
    does. It gives two records a poll, and stands still behind the last one when it `sticks`; else it comes to the end.
    """

    partitions: dict[int, list[Record]]
    ends: dict[int, int]
    closed: bool = False
    assigned: list[int] = field(default_factory=list)
    fails: bool = False
    sticks: bool = False
    begins: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    at: int | None = None

    def partitions_for_topic(self, _topic: str) -> set[int] | None:
        return set(self.partitions) or None

    def end_offsets(self, places: list[TopicPartition], *, timeout_ms: int) -> dict[TopicPartition, int]:
        if self.fails:
            raise KafkaConnectionError("gone")
        return {place: self.ends[place.partition] for place in places}

    def assign(self, places: list[TopicPartition]) -> None:
        self.assigned = [place.partition for place in places]

    def seek_to_beginning(self, place: TopicPartition) -> None:
        assert place.partition in self.assigned
        self.at = None

    def position(self, _place: TopicPartition) -> int | None:
        return self.at

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        assert timeout_ms
        (partition,) = self.assigned
        self.at = self.begins if self.at is None else self.at
        left = [one for one in self.partitions[partition] if one.offset >= self.at]
        if not left and not self.sticks:
            self.at = max(self.at, self.ends[partition])
        if not left:
            return {}
        self.at = left[:2][-1].offset + 1
        found = [SimpleNamespace(topic="enriched", partition=partition, **one._asdict()) for one in left[:2]]
        return {TopicPartition("enriched", partition): found}

    def close(self) -> None:
        self.closed = True


def read(monkeypatch: pytest.MonkeyPatch, consumer: Consumer) -> list[Arrival]:
    def connect(**settings: Any) -> Consumer:
        consumer.settings = settings
        return consumer

    monkeypatch.setattr(consumer_module, "KafkaConsumer", connect)
    seconds = itertools.count()
    return list(read_topic("127.0.0.1:1", "enriched", clock=lambda: next(seconds)))


def test_every_record_of_every_partition_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Consumer(
        {
            1: [Record(0, b"c")],
            0: [Record(0, b"a", SOURCE_HEADERS), Record(1, b"b", [], 1_790_000_000_250, b"page")],
        },
        {0: 2, 1: 1},
    )
    assert read(monkeypatch, consumer) == [
        Arrival("enriched", 0, 0, b"a", dict(SOURCE_HEADERS), ("page_change", 3, 42), 1_790_000_000_000),
        Arrival("enriched", 0, 1, b"b", {}, None, 1_790_000_000_250, b"page"),
        Arrival("enriched", 1, 0, b"c", {}, None, 1_790_000_000_000),
    ]
    assert consumer.closed
    # The broker is to leave an aborted transaction out; that it does is in the integration tests.
    assert consumer.settings["isolation_level"] == "read_committed"


@pytest.mark.parametrize(
    ("consumer", "count"),
    [
        pytest.param(Consumer({0: [*map(Record, range(5))]}, {0: 3}), 3, id="it stops at the end of now"),
        pytest.param(Consumer({0: [Record(0), Record(7)]}, {0: 8}), 2, id="offsets with a gap"),
        pytest.param(Consumer({0: [Record(0), Record(7)]}, {0: 9}), 2, id="the last offset is a transaction's marker"),
        pytest.param(Consumer({0: [Record(0), Record(7)]}, {0: 20}), 2, id="a gap at the end"),
        pytest.param(Consumer({0: []}, {0: 8}, begins=8), 0, id="a log of which nothing is left"),
        pytest.param(Consumer({0: [], 1: []}, {0: 0, 1: 0}), 0, id="an empty topic"),
        pytest.param(Consumer({}, {}), 0, id="a topic that is not there"),
    ],
)
def test_reads_up_to_the_end_of_now(monkeypatch: pytest.MonkeyPatch, consumer: Consumer, count: int) -> None:
    assert len(read(monkeypatch, consumer)) == count


def test_no_value_and_empty_headers_are_empty_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    (arrival,) = read(monkeypatch, Consumer({0: [Record(0, None, [("x", None)])]}, {0: 1}))
    assert (arrival.value, arrival.headers) == (b"", {"x": b""})


@pytest.mark.parametrize(
    "headers",
    [
        SOURCE_HEADERS[:2],
        SOURCE_HEADERS[1:],
        [*SOURCE_HEADERS[:2], ("source-offset", b"many")],
        [("source-topic", b"\xff"), *SOURCE_HEADERS[1:]],
    ],
)
def test_headers_that_do_not_say_where_it_came_from(monkeypatch: pytest.MonkeyPatch, headers: list[Any]) -> None:
    (arrival,) = read(monkeypatch, Consumer({0: [Record(0, b"", headers)]}, {0: 1}))
    assert arrival.source is None


@pytest.mark.parametrize(
    ("consumer", "message"),
    [
        (Consumer({0: [Record(0)]}, {0: 5}, sticks=True), "enriched ends at 5 but could be read only up to 1"),
        (Consumer({0: []}, {0: 0}, fails=True), "enriched could not be read for the audit: .*gone"),
    ],
    ids=["a topic that cannot be read to its end", "a broker that goes away"],
)
def test_what_is_not_read_is_an_error(monkeypatch: pytest.MonkeyPatch, consumer: Consumer, message: str) -> None:
    with pytest.raises(StackError, match=message):
        read(monkeypatch, consumer)
    assert consumer.closed
