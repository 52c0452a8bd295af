"""How many of the events that have to leave a pipeline have left it: what there is to see where no offsets are.

The topics are read as a whole, which costs, so only when they have grown to where all may have left.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devkit.observe.audit.arrivals import Arrival, Position


@dataclass(frozen=True)
class Left:
    """`left` of the `due` events have left. Without sources in the records' headers it is records that are counted."""

    left: int
    due: int
    names_sources: bool

    @property
    def is_all(self) -> bool:
        return self.left >= self.due


class Departed:
    """`read` gives all records that have left by now."""

    def __init__(self, read: "Callable[[], Iterable[Arrival]]") -> None:
        self._read = read
        self._records = -1
        self._sources: frozenset[Position] = frozenset()

    def look(self, records: int, due: "Collection[Position]", *, exact: bool = False) -> Left:
        """`records` have left in all; `exact` has them read in any case."""
        if records != self._records and (exact or records >= len(due)):
            found = [arrival.source for arrival in self._read()]
            self._records, self._sources = records, frozenset(source for source in found if source is not None)
        if records and self._records == records and not self._sources:
            return Left(min(records, len(due)), len(due), names_sources=False)
        left = sum(position in self._sources for position in due)
        return Left(left, len(due), names_sources=True)
