"""The fold over records made by hand, and the reading of a topic from a consumer that the test fills."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaConnectionError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.observe.kafka import deferrals
from devkit.observe.kafka.deferrals import DeferralTopic, DeferredEntries, NoDeferrals
from devkit.stack import topic_reader as consumer_module

Item = tuple[bytes | None, bytes | None]
Items = tuple[Item | tuple[bytes, bytes | None, int], ...]


def taken(*items: Item | tuple[bytes, bytes | None, int], partition: int = 0) -> DeferredEntries:
    """The third of an item is the epoch of who wrote it."""
    folded = DeferredEntries()
    for key, value, *epoch in items:
        folded.take(key, value, {"epoch": b"%d" % epoch[0]} if epoch else {}, partition=partition)
    return folded


@pytest.mark.parametrize(
    ("items", "now", "ever"),
    [
        (((b"s/0/0000000007", b"{}"), (b"s/0/0000000009", b"{}"), (b"s/0/0000000007", None)), {9}, {7, 9}),
        (((b"s/0/7", b"{}"), (b"s/0/7", None), (b"s/0/7", b"")), {7}, {7}),
        (((b"epoch/3", b""), (b"command/17", b"{}"), (b"command/17", None)), set(), set()),
    ],
    ids=["the last value decides", "what is resolved may come again", "the pipeline's own notes are no entries"],
)
def test_entries_are_those_that_are_not_resolved(items: tuple[Item, ...], now: set[int], ever: set[int]) -> None:
    folded = taken(*items)
    assert folded.now == {("s", 0, offset) for offset in now}
    assert folded.ever == {("s", 0, offset) for offset in ever}
    assert (len(folded), folded.unreadable) == (len(now), ())


def test_an_entry_holds_the_events_that_it_stands_for() -> None:
    folded = taken((b"s/0/3", b"{}"))
    folded.take(b"s/0/9", b"{}", {"counted": b'{"s":{"0":[7,9]},"t":{"1":[2]}}'})
    assert (folded.now, len(folded)) == ({("s", 0, 3), ("s", 0, 9)}, 2)
    assert folded.held == {("s", 0, 3), ("s", 0, 7), ("s", 0, 9), ("t", 1, 2)}
    folded.take(b"s/0/9", None)
    assert folded.held == folded.now == {("s", 0, 3)}


def test_events_of_a_batch_over_its_budget_are_told_by_their_cause() -> None:
    folded = taken((b"s/0/1", b"{}"))
    for offset, cause in ((2, b"too_large"), (3, b"batch_budget"), (4, None)):
        folded.take(b"s/0/%d" % offset, b"{}", {"cause": cause})
    folded.take(b"s/0/3", None)
    assert folded.over_budget == {("s", 0, 3)}


@pytest.mark.parametrize("key", [None, b"", b"s/0", b"s/0/x", b"s/x/0", b"a/b/0/1", b"\xff/0/1"])
def test_keys_that_name_no_event_are_told(key: bytes | None) -> None:
    assert taken((key, b"{}"), (key, b"{}")).unreadable == (key or b"",)


positions = st.tuples(st.sampled_from(["page_change", "a.b_c-d"]), st.integers(0, 3), st.integers(0, 5))


@given(st.lists(st.tuples(positions, st.booleans()), max_size=40))
def test_is_the_fold_by_key(steps: list[tuple[tuple[str, int, int], bool]]) -> None:
    last: dict[Any, bool] = {}
    folded = DeferredEntries()
    for (topic, partition, offset), put in steps:
        last[topic, partition, offset] = put
        folded.take(f"{topic}/{partition}/{offset:010d}".encode(), b"x" if put else None)
    assert folded.now == {position for position, put in last.items() if put}
    assert folded.ever == {position for position, put in steps if put}


A, B = ("s", 0, 1), ("s", 0, 2)
ENTRY_A, ENTRY_B = (b"s/0/1", b"{}"), (b"s/0/2", b"{}")


def marker(epoch: int) -> Item:
    return b"epoch/%d/%032x" % (epoch, epoch), b""


@pytest.mark.parametrize(
    ("items", "of_a", "of_b"),
    [
        ((marker(1), ENTRY_A, ENTRY_B, (b"s/0/1", None, 1), marker(2), marker(3), (b"s/0/2", None, 3)), 0, 2),
        # It was deferred without a marker, and the other one never.
        ((ENTRY_A, (b"command/x", b""), (b"epoch/x", b"")), None, 0),
        # Who was given up resolves nothing: the third start folds the entry all the same.
        ((marker(1), ENTRY_A, marker(2), (b"s/0/1", None, 1), marker(3)), 2, 0),
    ],
    ids=["what is unresolved then", "not known without a marker", "what one that was given up has resolved"],
)
def test_each_start_carries_over_entries(items: Items, of_a: int | None, of_b: int) -> None:
    folded = taken(*items)
    assert (folded.takeovers(A), folded.takeovers(B), folded.takeovers(("s", 0, 9))) == (of_a, of_b, 0)


def test_what_an_entry_stands_for_is_carried_over_with_it() -> None:
    folded = taken(marker(1))
    folded.take(b"s/0/2", b"{}", {"counted": b'{"s":{"0":[1,2]}}'})
    folded.take(*marker(2))
    assert (folded.takeovers(A), folded.takeovers(B)) == (1, 1)


def test_a_marker_is_about_its_own_partition() -> None:
    folded = taken(marker(1), ENTRY_A, partition=0)
    folded.take(*marker(2), partition=1)
    assert folded.takeovers(A) == 0
    folded.take(*marker(2), partition=0)
    assert folded.takeovers(A) == 1


@dataclass
class Consumer:
    """`log` holds the records of each partition; a poll returns at most two of each."""

    log: dict[int, list[Item]]
    positions: dict[int, int] = field(default_factory=dict)
    fails: bool = False
    stuck: bool = False
    polls: int = 0

    def partitions_for_topic(self, _topic: str) -> set[int] | None:
        return set(self.log) or None

    def assign(self, places: Iterable[TopicPartition]) -> None:
        assert not self.positions, "assigned twice, which would begin anew"
        self.positions = {place.partition: -1 for place in places}

    def seek_to_beginning(self, *places: TopicPartition) -> None:
        for place in places:
            self.positions[place.partition] = 0

    def end_offsets(self, places: Iterable[TopicPartition], *, timeout_ms: int) -> dict[TopicPartition, int]:
        if self.fails:
            raise KafkaConnectionError("gone")
        return {place: len(self.log[place.partition]) for place in places}

    def position(self, place: TopicPartition) -> int:
        return self.positions[place.partition]

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        self.polls += 1
        found = {}
        for number, records in self.log.items():
            begin = self.positions[number]
            if not self.stuck and records[begin:]:
                some = records[begin : begin + 2]
                self.positions[number] += len(some)
                found[TopicPartition("d", number)] = [
                    SimpleNamespace(key=key, value=value, headers=[], partition=number) for key, value in some
                ]
        return found

    def close(self) -> None:
        self.closed = True


def topic(monkeypatch: pytest.MonkeyPatch, consumer: Consumer) -> DeferralTopic:
    monkeypatch.setattr(consumer_module, "KafkaConsumer", lambda **_settings: consumer)
    return DeferralTopic("127.0.0.1:1", "d")


def test_reads_on_from_look_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NoDeferrals().catch_up() == topic(monkeypatch, Consumer({})).catch_up() == 0, "a topic that is not there yet"
    consumer = Consumer({0: [(f"s/0/{n}".encode(), b"{}") for n in range(5)], 1: [(b"epoch/1", b"")]})
    read = topic(monkeypatch, consumer)
    assert read.catch_up() == 5
    polls = consumer.polls
    assert read.catch_up() == 5
    assert consumer.polls == polls, "there was nothing new"
    consumer.log[0] += [(b"s/0/1", None), (b"s/0/8", b"{}"), (b"s/0/2", None)]
    assert read.catch_up() == 4
    assert read.entries.now == {("s", 0, 0), ("s", 0, 3), ("s", 0, 4), ("s", 0, 8)}


def test_a_broker_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StackError, match=r"d could not be read: .*gone"):
        topic(monkeypatch, Consumer({0: []}, fails=True)).catch_up()


def test_a_topic_that_cannot_be_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferrals, "_DEADLINE", deferrals._AT_ONCE)
    with pytest.raises(StackError, match="waited 0 s for d to be read to its end, in vain"):
        topic(monkeypatch, Consumer({0: [(b"s/0/1", b"{}")]}, stuck=True)).catch_up()
