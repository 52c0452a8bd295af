"""Each change is published once and in order, whatever fails in between."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import PartError
from devkit.event_bus.mock_feed import FeedEntry, FeedPage
from devkit.event_bus.publisher import Bus
from devkit.event_bus.streams import BusStream
from devkit.event_bus.topic_position import Headers, change_of, headers_of


def entry(n: int) -> FeedEntry:
    user = {"name": "Admin", "id": 1, "groups": ["*"]}
    revision = {
        "rev_id": 4096 + n,
        "parent_id": 0,
        "content_rev_id": 4096 + n,
        "timestamp": "2026-11-27T05:06:00Z",
        "user": user,
        "comment": "",
        "minor": False,
        "size": 0,
        "sha1": "0" * 40,
    }
    page = {"page_id": 1, "namespace_id": 0, "title": "A", "content_model": "wikitext", "revision_count": 1}
    change = {"kind": "create", "wiki": "w", "domain": "w.org", "at": "2026-11-27T05:06:00Z", "request_id": "r"}
    more = {"page": page, "revision": revision, "performer": user}
    return FeedEntry.model_validate({"n": n, "epoch": 1, "change": {**change, **more}})


@dataclass
class FakeFeed:
    """Has the changes from `first` to `last`, and gives two at once."""

    last: int
    first: int = 1
    name: str = "feed"

    def read(self, after: int, wait_s: float = 0) -> FeedPage:
        numbers = range(max(after + 1, self.first), self.last + 1)[:2]
        return FeedPage(
            feed=self.name, epoch=1, first=self.first, last=self.last, entries=tuple(entry(n) for n in numbers)
        )


@dataclass
class FakeTopics:
    """`failures` says of each call of `publish` whether it fails, and whether the record is in the topic all the
    same.
    """

    failures: list[str] = field(default_factory=list)
    records: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    sent: dict[str, list[bytes]] = field(default_factory=dict)

    def last_published(self, topic: str, feed: str) -> int:
        return max((n for of, n in self.records.get(topic, []) if of == feed), default=0)

    def values(self, topic: str) -> list[bytes]:
        return self.sent.get(topic, [])

    def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> tuple[int, int]:
        failure = self.failures.pop(0) if self.failures else ""
        change = change_of(headers)
        assert change is not None
        if failure != "lost":
            self.sent.setdefault(topic, []).append(value)
            self.records.setdefault(topic, []).append(change)
        if failure:
            raise PartError("the broker did not answer", "kafka")
        return 0, len(self.records[topic]) - 1


def record_of(_feed: str, entry: FeedEntry) -> tuple[bytes, bytes]:
    return b"key", str(entry.n).encode()


def even_record_of(feed: str, entry: FeedEntry) -> tuple[bytes, bytes] | None:
    return None if entry.n % 2 else record_of(feed, entry)


class Numbered:
    """Each record has the number behind that of the one before it."""

    def __init__(self) -> None:
        self.number = -1

    def resume(self, values: Iterable[bytes]) -> None:
        self.number = max(map(int, values), default=0)

    def record_of(self, _feed: str, _entry: FeedEntry) -> tuple[bytes, bytes]:
        self.number += 1
        return b"key", str(self.number).encode()


def streams() -> tuple[BusStream, ...]:
    numbered = Numbered()
    return (
        BusStream("all", record_of),
        BusStream("even", even_record_of),
        BusStream("numbered", numbered.record_of, numbered.resume),
    )


def follow(feed: FakeFeed, topics: FakeTopics) -> list[str]:
    """As the process does, with another process for each error; returns the log."""
    log: list[str] = []
    while True:
        bus = Bus(feed, topics, streams(), log.append)
        try:
            bus.locate()
            while bus.step():
                pass
        except PartError:
            continue
        return log


@given(last=st.integers(0, 12), failures=st.lists(st.sampled_from(["", "lost", "unanswered"]), max_size=12))
def test_a_change_is_published_once_and_in_order(last: int, failures: list[str]) -> None:
    topics = FakeTopics(list(failures))
    follow(FakeFeed(last), topics)
    assert [n for _, n in topics.records.get("all", [])] == list(range(1, last + 1))
    assert [n for _, n in topics.records.get("even", [])] == list(range(2, last + 1, 2))
    assert [int(value) for value in topics.values("numbered")] == list(range(1, last + 1))


def test_a_mock_that_was_started_again_has_another_feed() -> None:
    feed, topics = FakeFeed(3), FakeTopics()
    log: list[str] = []
    bus = Bus(feed, topics, streams()[:1], log.append)
    bus.locate()
    while bus.step():
        pass
    feed.name, feed.last = "other", 1
    bus.step()
    bus.step()
    assert topics.records["all"] == [("feed", 1), ("feed", 2), ("feed", 3), ("other", 1)]
    assert "the mock was started again: feed other follows feed" in log


def test_changes_that_the_mock_no_longer_keeps_are_named() -> None:
    topics = FakeTopics()
    log = follow(FakeFeed(last=9, first=8), topics)
    assert [n for _, n in topics.records["all"]] == [8, 9]
    assert "lost 7 changes that the mock no longer keeps" in log


@pytest.mark.parametrize(
    ("headers", "change"),
    [
        (headers_of("feed", 7), ("feed", 7)),
        ((("traceparent", b"x"), *headers_of("f", 1)), ("f", 1)),
        ((), None),
        ((("mock-feed", b"f"),), None),
        ((("mock-feed", b"f"), ("mock-change", b"x")), None),
        ((("mock-feed", b"f"), ("mock-change", None)), None),
    ],
)
def test_a_record_says_which_change_it_is_of(
    headers: tuple[tuple[str, bytes | None], ...], change: tuple[str, int] | None
) -> None:
    assert change_of(headers) == change
