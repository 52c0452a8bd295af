"""The streams that the bus publishes: a topic, and which record a change has there."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from devkit.event_bus.entity_operation import EntityOperations
from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import page_change_record

RecordOf = Callable[[str, FeedEntry], tuple[bytes, bytes] | None]
"""From feed and entry to key and value; None for a change that the stream does not have."""
Resume = Callable[[Iterable[bytes]], None]
"""Takes the values of the topic, in their order."""


@dataclass(frozen=True, slots=True)
class BusStream:
    """A change has one record in the topic, or none. Of a stream whose records depend on earlier ones, `resume` reads
    what the topic has: at the start, and after each error.
    """

    topic: str
    record_of: RecordOf
    resume: Resume | None = None


PAGE_CHANGES: Final = "page-change"
ENTITY_OPERATIONS: Final = "entity-operation"


def _page_changes(topic: str) -> BusStream:
    return BusStream(topic, page_change_record)


def _entity_operations(topic: str) -> BusStream:
    operations = EntityOperations()
    return BusStream(topic, operations.record_of, operations.resume)


STREAMS: Final[Mapping[str, Callable[[str], BusStream]]] = MappingProxyType(
    {PAGE_CHANGES: _page_changes, ENTITY_OPERATIONS: _entity_operations}
)
"""By name; each takes its topic."""
