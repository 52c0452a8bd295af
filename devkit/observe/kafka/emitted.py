"""The number of events that a program has emitted, of those that it has to: observable without offsets.

Reading whole topics is slow, so they are read only when they have enough records for all events.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devkit.observe.audit.arrivals import Arrival, Position
    from devkit.traffic.manifest import Manifest


@dataclass(frozen=True)
class Emitted:
    """`count` of the `due` events are emitted. Without sources in the records' headers, records are counted."""

    count: int
    due: int
    names_sources: bool

    @property
    def is_all(self) -> bool:
        """True with nothing due. Where records are counted, repeats may hide missing events."""
        return self.count >= self.due


def due_events(manifest: "Manifest") -> "set[Position]":
    """The published events that have to end as some record."""
    return {(it.topic, it.partition, it.offset) for it in manifest.entries if it.expected.fate != "filtered"}


class Emissions:
    """`read` gives all records that are emitted by now."""

    def __init__(self, read: "Callable[[], Iterable[Arrival]]") -> None:
        self._read = read
        self._records = -1
        self._count = 0
        self._sources: frozenset[Position] = frozenset()

    def look(self, records: int, due: "Collection[Position]", *, exact: bool = False) -> Emitted:
        """`records` are emitted at most, by the ends of the topics; `exact` has them read in any case."""
        if records != self._records and (exact or records >= len(due)):
            sources = [arrival.source for arrival in self._read()]
            self._records, self._count = records, len(sources)
            self._sources = frozenset(source for source in sources if source is not None)
        if self._count and self._records == records and not self._sources:
            return Emitted(min(self._count, len(due)), len(due), names_sources=False)
        count = sum(position in self._sources for position in due)
        return Emitted(count, len(due), names_sources=True)
