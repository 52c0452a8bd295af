"""Entries by page: the ledger's store. It knows their order, their size and when they may be tried; nothing of lanes.

A batch is planned and the slow lane looks for work many times a minute, whatever stands here. So nothing that is asked
then walks over all entries: what a page comes to is worked out when it has changed, once, and pages stand in a queue
by the time at which they are due. What a batch's tasks must know of everything (`frozen`) is copied, not made.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from pipeline.deferral.entry import Entry, Page, order, rests
from pipeline.records.record import Position, SourcePartition

Source = tuple[str, int]
"""A topic and a partition of it."""


class Positions(Set[Position]):
    """A set of positions, given as the offsets in each partition. The caller gives the sets away.

    All tasks of a batch get all of the ledger's positions. As an object for each, 100,000 of them took seconds to send;
    as numbers and keys by partition, they take a hundredth of a second.
    """

    __slots__ = ("_offsets",)

    def __init__(self, offsets: Mapping[Source, Set[int]]) -> None:
        self._offsets = offsets

    def __contains__(self, position: object) -> bool:
        if not isinstance(position, Position):
            return False
        return position.offset in self._offsets.get((position.topic, position.partition), ())

    def __iter__(self) -> Iterator[Position]:
        for (topic, partition), offsets in self._offsets.items():
            for offset in offsets:
                yield Position(topic, partition, offset)

    def __len__(self) -> int:
        return sum(map(len, self._offsets.values()))


class BlockedPages(Mapping[Page, Position]):
    """Pages and the lowest position of each, given as an offset for each key in each partition."""

    __slots__ = ("_lowest",)

    def __init__(self, lowest: Mapping[Source, Mapping[bytes | None, int]]) -> None:
        self._lowest = lowest

    def __getitem__(self, page: Page) -> Position:
        topic, partition, key = page
        return Position(topic, partition, self._lowest[topic, partition][key])

    def __iter__(self) -> Iterator[Page]:
        for (topic, partition), pages in self._lowest.items():
            for key in pages:
                yield topic, partition, key

    def __len__(self) -> int:
        return sum(map(len, self._lowest.values()))


@dataclass(slots=True, eq=False)
class _Page:
    """A page's entries, and what they come to when it was last worked out. It is of the wiki that was asked first."""

    entries: dict[Position, Entry] = field(default_factory=dict)
    wiki_id: str | None = None
    ordered: tuple[Entry, ...] = ()
    rank: int = 0
    due_ms: int = 0
    stuck: bool = False


class Pages:
    """Entries, each position once. A page comes before another when an entry of it was deferred earlier. No entry rests
    for more than `longest_rest_ms`.
    """

    def __init__(self, longest_rest_ms: int = 2**63) -> None:
        self._longest_rest_ms = longest_rest_ms
        # To look at all of them takes long, and only a clock that goes back can have changed what they come to.
        self._now_ms: int | None = None
        self._unlooked: dict[Page, None] = {}
        self._pages: dict[Page, _Page] = {}
        self._changed: dict[Page, None] = {}
        self._page_of: dict[Position, Page] = {}
        self._rank: dict[Position, int] = {}
        self._ranks = 0
        self.bytes = 0
        # Entries and bytes by the wiki of their page.
        self._sizes: dict[str | None, tuple[int, int]] = {}
        self._offsets: dict[Source, set[int]] = {}
        self._lowest: dict[Source, dict[bytes | None, int]] = {}
        self._unstuck: dict[Page, None] = {}
        # A page stands in the queue until it is due, and then in one of the two others. What is old in the queue
        # (its page has changed since) is known by its state and passed over.
        self._queue: list[tuple[int, int, Page, _Page]] = []
        self._queued = 0
        self._due: dict[bool, dict[Page, None]] = {True: {}, False: {}}

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._page_of)

    def __iter__(self) -> Iterator[Page]:
        """Every page that has an entry, by rank."""
        return self.by_rank(self._pages)

    @property
    def count(self) -> int:
        """Number of pages with an entry."""
        return len(self._pages)

    def page_of(self, position: Position) -> Page | None:
        """The page of the entry at this position, None where there is none."""
        return self._page_of.get(position)

    def get(self, position: Position) -> Entry | None:
        """None when there is no entry at this position."""
        page = self._page_of.get(position)
        return None if page is None else self._pages[page].entries[position]

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same position, which keeps its rank."""
        position, page = entry.position, entry.page
        state = self._pages.setdefault(page, _Page())
        if state.wiki_id is None and entry.wiki_id is not None:
            self._now_of(state, entry.wiki_id)
        if position in self._page_of:
            self._resize(state, -1, -state.entries[position].size)
        else:
            self._rank[position] = self._ranks
            self._ranks += 1
            self._page_of[position] = page
            self._offsets.setdefault((position.topic, position.partition), set()).add(position.offset)
        state.entries[position] = entry
        self._changed[page] = None
        self._resize(state, 1, entry.size)

    def remove(self, position: Position) -> None:
        """Raises KeyError when the position has no entry."""
        page = self._page_of.pop(position)
        del self._rank[position]
        self._offsets[position.topic, position.partition].remove(position.offset)
        state = self._pages[page]
        self._resize(state, -1, -state.entries.pop(position).size)
        self._changed[page] = None
        if not self._pages[page].entries:
            self._drop(page)

    def wiki_of(self, page: Page) -> str | None:
        """The wiki that was asked for an event of the page since it has entries, None for none."""
        return self._pages[page].wiki_id

    def size_of(self, wikis: Iterable[str]) -> tuple[int, int]:
        """Number and bytes of the entries on pages of these wikis."""
        sizes = [self._sizes.get(wiki_id, (0, 0)) for wiki_id in wikis]
        return sum(entries for entries, _ in sizes), sum(size for _, size in sizes)

    def entries(self, page: Page) -> tuple[Entry, ...]:
        """The page's entries in the order in which they have to be emitted."""
        return self._page(page).ordered

    def has_stuck(self, page: Page) -> bool:
        """Whether an entry of the page waits for the slow lane."""
        return self._page(page).stuck

    def by_rank(self, pages: Iterable[Page]) -> Iterator[Page]:
        """The pages in their order; the first few of many cost little more than one look at each."""
        queue = [(self._page(page).rank, page) for page in pages]
        heapq.heapify(queue)
        while queue:
            yield heapq.heappop(queue)[1]

    def unstuck(self) -> Iterator[Page]:
        """Every page that has entries, none of them stuck, by rank."""
        self._recompute_pages()
        return self.by_rank(self._unstuck)

    def due(self, now_ms: int, *, stuck: bool) -> list[Page]:
        """The pages that have to wait no more, with or without a stuck entry, in no order."""
        self._recompute_pages()
        while self._queue and self._queue[0][0] <= now_ms:
            due_ms, _, page, state = heapq.heappop(self._queue)
            if self._pages.get(page) is state and state.due_ms == due_ms:
                self._due[state.stuck][page] = None
        set_back = self._now_ms is None or now_ms < self._now_ms
        for page in self._pages if set_back else self._unlooked:
            state = self._pages[page]
            if not self._rests(state, now_ms):
                self._due[state.stuck][page] = None
        self._now_ms = now_ms
        self._unlooked.clear()
        # The time of day may have been set back since a page was found to be due.
        return [page for page in self._due[stuck] if not self._rests(self._pages[page], now_ms)]

    def begin_before(self, offsets: Mapping[SourcePartition, int]) -> bool:
        """Whether any page has an entry below the offset of its partition; a partition without one counts as 0."""
        self._recompute_pages()
        return any(
            lowest < offsets.get(SourcePartition(*source), 0)
            for source, pages in self._lowest.items()
            for lowest in pages.values()
        )

    def frozen(self, without: Sequence[Entry]) -> tuple[BlockedPages, Positions]:
        """A copy of the state without these entries: the lowest position of each page, and all positions."""
        self._recompute_pages()
        lowest = {source: dict(pages) for source, pages in self._lowest.items() if pages}
        offsets = {source: set(known) for source, known in self._offsets.items() if known}
        left_out = {entry.position for entry in without}
        for position in left_out:
            offsets[position.topic, position.partition].remove(position.offset)
        for page in dict.fromkeys(entry.page for entry in without):
            topic, partition, key = page
            entry = next((entry for entry in self.entries(page) if entry.position not in left_out), None)
            if entry is None:
                del lowest[topic, partition][key]
            else:
                lowest[topic, partition][key] = entry.position.offset
        return BlockedPages(lowest), Positions(offsets)

    def _now_of(self, state: _Page, wiki_id: str) -> None:
        sizes = [entry.size for entry in state.entries.values()]
        self._resize(state, -len(sizes), -sum(sizes))
        state.wiki_id = wiki_id
        self._resize(state, len(sizes), sum(sizes))

    def _resize(self, state: _Page, entries: int, size: int) -> None:
        self.bytes += size
        known, known_bytes = self._sizes.get(state.wiki_id, (0, 0))
        if known + entries:
            self._sizes[state.wiki_id] = known + entries, known_bytes + size
        else:
            self._sizes.pop(state.wiki_id, None)

    def _rests(self, state: _Page, now_ms: int) -> bool:
        return rests(state.due_ms, now_ms, self._longest_rest_ms)

    def _page(self, page: Page) -> _Page:
        if page in self._changed:
            self._recompute_pages()
        return self._pages[page]

    def _recompute_pages(self) -> None:
        """Recomputes each page that has changed."""
        for page in self._changed:
            state = self._pages[page]
            entries = state.entries.values()
            state.ordered = tuple(sorted(entries, key=lambda entry: order(entry.position)))
            state.rank = min(self._rank[position] for position in state.entries)
            state.due_ms = max(entry.not_before_ms for entry in entries)
            state.stuck = any(entry.kind == "stuck" for entry in entries)
            topic, partition, key = page
            self._lowest.setdefault((topic, partition), {})[key] = state.ordered[0].position.offset
            if state.stuck:
                self._unstuck.pop(page, None)
            else:
                self._unstuck[page] = None
            for pages in self._due.values():
                pages.pop(page, None)
            self._unlooked[page] = None
            self._queued += 1
            heapq.heappush(self._queue, (state.due_ms, self._queued, page, state))
        self._changed.clear()

    def _drop(self, page: Page) -> None:
        del self._pages[page], self._changed[page]
        topic, partition, key = page
        self._lowest.get((topic, partition), {}).pop(key, None)
        for pages in (self._unstuck, self._unlooked, *self._due.values()):
            pages.pop(page, None)
