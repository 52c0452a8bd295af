"""The streams that the bus publishes: topics, and which record a change has there."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import page_change_record
from devkit.event_bus.wikibase_record import WIKIBASE_TOPICS, wikibase_canaries, wikibase_record
from devkit.traffic.page_change import STREAM

RecordOf = Callable[[str, FeedEntry], BusRecord | None]
"""From feed and entry to the record; None for a change that the stream does not have."""
Canaries = Callable[[datetime], Iterable[BusRecord]]
"""Canaries of that time."""


def no_canaries(_when: datetime) -> tuple[BusRecord, ...]:
    """Of a stream that has none."""
    return ()


@dataclass(frozen=True, slots=True)
class BusStream:
    """A change has one record in one of the topics, or none."""

    topics: tuple[str, ...]
    record_of: RecordOf
    canaries: Canaries = no_canaries


PAGE_CHANGES: Final = "page-change"
WIKIBASE: Final = "wikibase"

STREAMS: Final[Mapping[str, BusStream]] = MappingProxyType(
    {
        PAGE_CHANGES: BusStream((STREAM,), page_change_record),
        WIKIBASE: BusStream(WIKIBASE_TOPICS, wikibase_record, wikibase_canaries),
    }
)
"""By name."""
