"""End-to-end latency: from an event's append to the source to the append of its first output or error event.

Both moments are the records' own timestamps, which the topics of a run have their broker set. An event that has not
left by the arm's end has waited for its age at least, and how much longer is unknown: percentiles are bounds.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devkit.observe.figures import LatencyFigures

if TYPE_CHECKING:  # the expectations are made of this, and they must not need Kafka
    from devkit.observe.audit.arrivals import Position
    from devkit.observe.audit.source_event import SourceEvent

Page = tuple[str, int]
"""Wiki and page id."""


@dataclass(frozen=True, slots=True)
class EventLatency:
    """One event that had to be emitted. `seconds` are those until it was, else its age at the arm's end."""

    page: Page | None
    published_ms: int
    seconds: float
    is_emitted: bool


@dataclass(frozen=True, slots=True)
class Percentile:
    """`at_most_s` is None where too many events are not emitted to know."""

    at_least_s: float
    at_most_s: float | None


@dataclass(frozen=True)
class Latencies:
    """The latencies of some events; `pages_matched`: those that a rule which picks pages matched, None if unknown."""

    events: tuple[EventLatency, ...] = ()
    pages_matched: frozenset[Page] | None = None

    @property
    def emitted(self) -> int:
        """Number of events with an output or an error event by the arm's end."""
        return sum(event.is_emitted for event in self.events)

    @property
    def waiting(self) -> int:
        """Number of events with neither by the arm's end."""
        return len(self.events) - self.emitted

    def healthy(self) -> "Latencies | None":
        """Only the events whose page no rule that picks pages matched; None where that is not known."""
        if self.pages_matched is None:
            return None
        return Latencies(
            tuple(event for event in self.events if event.page not in self.pages_matched), self.pages_matched
        )

    def percentile(self, percent: float) -> Percentile | None:
        """By nearest rank; None without events."""
        if not self.events:
            return None
        rank = max(0, math.ceil(percent / 100 * len(self.events)) - 1)
        known = sorted(event.seconds for event in self.events if event.is_emitted)
        bounds = sorted(event.seconds for event in self.events)
        return Percentile(bounds[rank], known[rank] if rank < len(known) else None)

    def figures(self) -> LatencyFigures:
        """The upper bounds of the percentiles in seconds, to the millisecond; `max_s` is the 100th."""

        def seconds(percent: float) -> float | None:
            value = self.percentile(percent)
            return None if value is None or value.at_most_s is None else round(value.at_most_s, 3)

        return LatencyFigures(
            emitted=self.emitted, waiting=self.waiting, p50_s=seconds(50), p95_s=seconds(95), p99_s=seconds(99),
            max_s=seconds(100),
        )  # fmt: skip

    def by_second(self, began_ms: int) -> Iterator[tuple[int, "Latencies"]]:
        """The events of each second of publishing, by seconds since `began_ms`, in order."""
        seconds: dict[int, list[EventLatency]] = {}
        for event in self.events:
            seconds.setdefault((event.published_ms - began_ms) // 1000, []).append(event)
        for second, events in sorted(seconds.items()):
            yield second, Latencies(tuple(events), self.pages_matched)


def latencies(
    events: "Iterable[SourceEvent]",
    *,
    published_ms: "Mapping[Position, int]",
    emitted_ms: "Mapping[Position, int]",
    ended_ms: int,
    pages_matched: Set[Page] | None,
) -> Latencies:
    """Of all events that had to be emitted and whose append is known. Times are milliseconds since the epoch."""
    measured: list[EventLatency] = []
    for event in events:
        began_ms = published_ms.get(event.position)
        if event.entry.expected.fate == "filtered" or began_ms is None:
            continue
        append_ms = emitted_ms.get(event.position)
        reference = event.entry.expected.page
        measured.append(
            EventLatency(
                page=(reference.wiki, reference.page_id) if reference else None,
                published_ms=began_ms,
                seconds=max(0, (ended_ms if append_ms is None else append_ms) - began_ms) / 1000,
                is_emitted=append_ms is not None,
            )
        )
    return Latencies(tuple(measured), None if pages_matched is None else frozenset(pages_matched))
