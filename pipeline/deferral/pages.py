"""Entries by page: the ledger's store. It knows their order and their size, and nothing of lanes."""

from collections.abc import Iterable, Iterator

from pipeline.deferral.entry import Entry, Page, order
from pipeline.records.record import Position


class Pages:
    """Entries, each position once. A page comes before another when an entry of it was put aside earlier."""

    def __init__(self) -> None:
        self._pages: dict[Page, dict[Position, Entry]] = {}
        self._page_of: dict[Position, Page] = {}
        self._rank: dict[Position, int] = {}
        self._ranks = 0
        self.bytes = 0

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._page_of)

    def __iter__(self) -> Iterator[Page]:
        """Every page that has an entry, by rank."""
        return iter(self.by_rank(self._pages))

    @property
    def count(self) -> int:
        return len(self._pages)

    def page_of(self, position: Position) -> Page | None:
        return self._page_of.get(position)

    def get(self, position: Position) -> Entry | None:
        page = self._page_of.get(position)
        return None if page is None else self._pages[page][position]

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same position, which keeps its rank."""
        position, page = entry.position, entry.page
        if position in self._page_of:
            self.bytes -= self._pages[self._page_of[position]].pop(position).size
        else:
            self._rank[position] = self._ranks
            self._ranks += 1
        self._page_of[position] = page
        self._pages.setdefault(page, {})[position] = entry
        self.bytes += entry.size

    def remove(self, position: Position) -> None:
        page = self._page_of.pop(position)
        del self._rank[position]
        self.bytes -= self._pages[page].pop(position).size
        if not self._pages[page]:
            del self._pages[page]

    def entries(self, page: Page) -> tuple[Entry, ...]:
        """The page's entries in the order in which they have to leave."""
        return tuple(sorted(self._pages[page].values(), key=lambda entry: order(entry.position)))

    def has_stuck(self, page: Page) -> bool:
        return any(entry.kind == "stuck" for entry in self._pages[page].values())

    def due_ms(self, page: Page) -> int:
        """When none of the page's entries has to wait any more."""
        return max(entry.not_before_ms for entry in self._pages[page].values())

    def by_rank(self, pages: Iterable[Page]) -> list[Page]:
        return sorted(pages, key=lambda page: min(self._rank[position] for position in self._pages[page]))
