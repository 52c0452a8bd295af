"""What the ledger hands out: to a batch a frozen picture of itself, to a slow round the pages it may work on.

The picture travels in the closure of the batch's tasks (`fence`, without values); the reserved entries become rows of
the batch. Neither changes while the batch runs, whatever happens to the ledger.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from pipeline.deferral.entry import Cause, Entry, Page
from pipeline.records.record import Position


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a task needs to know of a row from the ledger. All fields are those of the entry."""

    attempt: int
    dropped: bool
    reason: str
    cause: Cause | None = None
    wiki_id: str | None = None

    @classmethod
    def of(cls, entry: Entry) -> "Reservation":
        """Without position, key and value, which the row has itself."""
        return cls(entry.attempt, entry.dropped, entry.reason, entry.cause, entry.wiki_id)


UNRESERVED = Reservation(attempt=0, dropped=False, reason="")
"""What is to be known of a row that comes from the source."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The ledger as a batch's tasks see it, frozen and small. `blocked`: the lowest unreserved position of a page."""

    blocked: Mapping[Page, Position]
    unreserved: Set[Position]
    reserved: Mapping[Position, Reservation]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A batch's part of the ledger: its `fence`, and the entries it reserves, ordered by page and position; and the
    wikis of which its tasks ask nothing.
    """

    fence: Fence
    reserved: tuple[Entry, ...]
    unhealthy: Set[str] = frozenset()

    @property
    def blocked(self) -> Mapping[Page, Position]:
        """For each page, the first position that must wait: events from there on are deferred too."""
        return self.fence.blocked

    @property
    def unreserved(self) -> Set[Position]:
        """Positions whose entries stay in the ledger: a source row at one of them is dropped."""
        return self.fence.unreserved


@dataclass(frozen=True, slots=True)
class Round:
    """The pages that the slow lane took, each with all its entries in order."""

    number: int
    pages: tuple[tuple[Page, tuple[Entry, ...]], ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries in the order of the pages, and by offset within a page."""
        return tuple(entry for _page, entries in self.pages for entry in entries)
