"""The feed of changed pages: who follows a mock's wikis asks for what came after a sequence number, and may wait.

    feed (a mock's process) ── epoch (a world: new after each `populate` or `reset`) ── n (a change, from 1 on)

It outlives worlds, so that `n` goes on over a reset and no change is lost by it; a mock that is started again has
another feed, whose `n` begins at 1. Changes of all wikis are in one order, that in which they happened.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mockapi.wiki.edits.page_change import PageChange

CHANGES_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """`n` counts changes from 1; `epoch` counts worlds from 1."""

    n: int
    epoch: int
    change: PageChange


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Entries in order of `n`, without gaps. `first` is the oldest that is kept, `last` the newest: of none kept,
    `first` is `last` + 1. `feed` names the mock's process and `epoch` the world that answers now.
    """

    feed: str
    epoch: int
    first: int
    last: int
    entries: tuple[FeedEntry, ...]


class PageFeed:
    """Keeps the newest `kept` changes. To be used from one event loop; `now` gives aware times, of which the first
    names the feed.
    """

    def __init__(self, now: Callable[[], datetime], kept: int = CHANGES_KEPT) -> None:
        self.id = now().isoformat(timespec="microseconds")
        self._kept: deque[FeedEntry] = deque(maxlen=kept)
        self._last = 0
        self._epoch = 1
        self._changed = asyncio.Event()

    def record(self, change: PageChange) -> None:
        """Adds a change of the world that answers now, and wakes who waits."""
        self._last += 1
        self._kept.append(FeedEntry(n=self._last, epoch=self._epoch, change=change))
        self._wake_waiters()

    def begin_epoch(self) -> None:
        """Another world answers from now on; who waits for a change of the former one learns it."""
        self._epoch += 1
        self._wake_waiters()

    def page(self, after: int, limit: int) -> FeedPage:
        """At most `limit` entries with an `n` above `after`, the oldest first."""
        first = self._kept[0].n if self._kept else self._last + 1
        start = max(0, after + 1 - first)
        entries = tuple(self._kept[at] for at in range(start, min(len(self._kept), start + limit)))
        return FeedPage(feed=self.id, epoch=self._epoch, first=first, last=self._last, entries=entries)

    async def wait(self, after: int, wait_s: float) -> None:
        """Returns when there is a change after `after`, when another world answers, or after `wait_s` seconds. For an
        `after` that this feed has not reached at once: it is another feed's.
        """
        if self._last != after or wait_s <= 0:
            return
        try:
            await asyncio.wait_for(self._changed.wait(), wait_s)
        except TimeoutError:
            return

    def _wake_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
