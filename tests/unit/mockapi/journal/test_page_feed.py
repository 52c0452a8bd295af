"""The feed of changed pages: complete, in order, bounded, and with a wait that ends."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.clock import Clock
from mockapi.journal.page_feed import FeedPage, PageFeed
from mockapi.wiki.edits.page_change import ChangePage, ChangeRevision, ChangeUser, PageChange
from mockapi.wiki.people import Author
from mockapi.world import World, Worlds

NOW = datetime(2026, 11, 27, 4, tzinfo=UTC)
USER = ChangeUser(name="Alice", id=2, groups=("*",))


def change(page_id: int = 1) -> PageChange:
    revision = ChangeRevision(
        rev_id=page_id * 4096 + 1,
        parent_id=0,
        content_rev_id=page_id * 4096 + 1,
        timestamp=NOW,
        user=USER,
        comment="",
        minor=False,
        size=0,
        sha1="0" * 40,
    )
    page = ChangePage(page_id=page_id, namespace_id=0, title="A", content_model="wikitext", revision_count=1)
    return PageChange(
        kind="create", wiki="w", domain="w.org", at=NOW, request_id="f00d", page=page, revision=revision, performer=USER
    )


def feed_of(count: int, kept: int = 1000) -> PageFeed:
    feed = PageFeed(lambda: NOW, kept)
    for page_id in range(1, count + 1):
        feed.record(change(page_id))
    return feed


@pytest.mark.parametrize(
    ("count", "after", "limit", "first", "last", "numbers"),
    [
        (0, 0, 10, 1, 0, []),
        (3, 0, 10, 1, 3, [1, 2, 3]),
        (3, 1, 1, 1, 3, [2]),
        (3, 3, 10, 1, 3, []),
        (3, 9, 10, 1, 3, []),
        (7, 0, 10, 3, 7, [3, 4, 5, 6, 7]),
        (7, 5, 10, 3, 7, [6, 7]),
    ],
)
def test_a_page_of_a_feed_that_keeps_five(
    count: int, after: int, limit: int, first: int, last: int, numbers: list[int]
) -> None:
    page = feed_of(count, kept=5).page(after, limit)
    assert (page.first, page.last, [entry.n for entry in page.entries]) == (first, last, numbers)
    assert [entry.change.page.page_id for entry in page.entries] == numbers


@given(count=st.integers(0, 30), limits=st.lists(st.integers(1, 7), min_size=30, max_size=30))
def test_who_reads_on_has_each_change_once_and_in_order(count: int, limits: list[int]) -> None:
    feed, after, numbers = feed_of(count), 0, []
    for limit in limits:
        entries = feed.page(after, limit).entries
        numbers += [entry.n for entry in entries]
        after = entries[-1].n if entries else after
    assert numbers == list(range(1, count + 1))


@pytest.mark.parametrize(("after", "wait_s"), [(0, 60), (1, 0), (2, 60)])
def test_there_is_no_wait_for_what_is_there_already(after: int, wait_s: float) -> None:
    asyncio.run(asyncio.wait_for(feed_of(1).wait(after, wait_s), 10))


@pytest.mark.parametrize("wakes", ["record", "begin_epoch"])
def test_a_wait_ends_with_a_change_and_with_another_world(wakes: str) -> None:
    async def waited() -> FeedPage:
        feed = feed_of(1)
        waiters = [asyncio.create_task(feed.wait(1, 60)) for _ in range(2)]
        await asyncio.sleep(0)
        if wakes == "record":
            feed.record(change(2))
        else:
            feed.begin_epoch()
        await asyncio.wait_for(asyncio.gather(*waiters), 10)
        return feed.page(1, 10)

    page = asyncio.run(waited())
    assert (len(page.entries), page.epoch) == ((1, 1) if wakes == "record" else (0, 2))


def test_a_wait_ends_without_a_change() -> None:
    asyncio.run(asyncio.wait_for(feed_of(1).wait(1, 0.01), 10))


def test_the_feed_outlives_a_reset_with_another_epoch() -> None:
    clock = Clock(now=lambda: NOW)
    worlds = Worlds(World(1, [], (), clock), clock)

    def write(world: World, title: str) -> None:
        (wiki,) = world.wikis
        world.overlay(wiki, "").edit(wiki.title(title), "text", by=Author("Admin", 1))

    worlds.populate(2, None, ())
    first = worlds.current
    write(first, "One")
    worlds.reset()
    worlds.populate(2, None, ())
    write(first, "Of a world that has ended")
    write(worlds.current, "Two")
    page = worlds.feed.page(0, 10)
    assert [(entry.n, entry.epoch, entry.change.page.title) for entry in page.entries] == [(1, 2, "One"), (2, 4, "Two")]
    assert (page.feed, page.epoch) == ("2026-11-27T04:00:00.000000+00:00", 4)
    assert page.entries[0].change.performer.groups == (
        "bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed",
    )  # fmt: skip
