"""Each change is published once and in order, whatever fails in between."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import PartError
from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import FeedEntry, FeedPage
from devkit.event_bus.publisher import CANARY_EVERY, Bus
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
    records: list[tuple[str, tuple[str, int]]] = field(default_factory=list)

    def last_published(self, topics: tuple[str, ...], feed: str) -> int:
        return max((n for topic, (of, n) in self.records if of == feed and topic in topics), default=0)

    def publish(self, record: BusRecord, headers: Headers) -> tuple[int, int]:
        failure = self.failures.pop(0) if self.failures else ""
        change = change_of(headers)
        assert change is not None
        if failure != "lost":
            self.records.append((record.topic, change))
        if failure:
            raise PartError("the broker did not answer", "kafka")
        return 0, len(self.records) - 1

    def of(self, *topics: str) -> list[tuple[str, int]]:
        return [change for topic, change in self.records if topic in topics]


def record_of(_feed: str, entry: FeedEntry) -> BusRecord | None:
    """Every third change has none."""
    topics = {1: "odd", 0: "even"}
    return BusRecord(topics[entry.n % 2], b"key", b"value") if entry.n % 3 else None


def canaries(_when: datetime) -> Iterable[BusRecord]:
    yield from (BusRecord(topic, b"key", b"canary") for topic in ("odd", "even", "other"))


STREAM = BusStream(("odd", "even", "other"), record_of)
WITH_CANARIES = BusStream(STREAM.topics, lambda _feed, _entry: BusRecord("odd", b"key", b"value"), canaries)


def follow(feed: FakeFeed, topics: FakeTopics) -> list[str]:
    """As the process does, with another process for each error; returns the log."""
    log: list[str] = []
    while True:
        bus = Bus(feed, topics, STREAM, log.append)
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
    expected = [n for n in range(1, last + 1) if n % 3]
    assert [n for _, n in topics.of("odd", "even")] == expected
    assert [n for _, n in topics.of("even")] == [n for n in expected if n % 2 == 0]


def test_a_mock_that_was_started_again_has_another_feed() -> None:
    feed, topics = FakeFeed(2), FakeTopics()
    log: list[str] = []
    bus = Bus(feed, topics, STREAM, log.append)
    bus.locate()
    while bus.step():
        pass
    feed.name, feed.last = "other", 1
    bus.step()
    assert topics.of("odd", "even") == [("feed", 1), ("feed", 2), ("other", 1)]
    assert "the mock was started again: feed other follows feed" in log


def test_changes_that_the_mock_no_longer_keeps_are_named() -> None:
    topics = FakeTopics()
    log = follow(FakeFeed(last=8, first=7), topics)
    assert [n for _, n in topics.of("odd", "even")] == [7, 8]
    assert "lost 6 changes that the mock no longer keeps" in log


def test_a_canary_comes_behind_all_changes_that_were_made_before_it() -> None:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    feed, topics = FakeFeed(5), FakeTopics()
    bus = Bus(feed, topics, WITH_CANARIES, lambda _line: None, lambda: now)
    bus.locate()
    bus.turn()
    changes = [("odd", ("feed", n)) for n in range(1, 6)]
    first_canaries = [(topic, ("feed", 5)) for topic in STREAM.topics]
    assert topics.records == changes + first_canaries
    feed.last = 6
    now += CANARY_EVERY / 2
    bus.turn()
    assert topics.records[8:] == [("odd", ("feed", 6))]
    now += CANARY_EVERY / 2
    bus.turn()
    assert topics.records[9:] == [(topic, ("feed", 6)) for topic in STREAM.topics]
    assert topics.last_published(STREAM.topics, "feed") == 6


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
