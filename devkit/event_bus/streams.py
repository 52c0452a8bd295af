"""The streams that the bus publishes: a topic, and which record a change has there."""

from collections.abc import Callable
from dataclasses import dataclass

from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import page_change_record

RecordOf = Callable[[str, FeedEntry], tuple[bytes, bytes] | None]
"""From feed and entry to key and value; None for a change that the stream does not have."""


@dataclass(frozen=True, slots=True)
class BusStream:
    """A change has one record in the topic, or none."""

    topic: str
    record_of: RecordOf


def streams(page_change_topic: str) -> tuple[BusStream, ...]:
    """All streams of the bus."""
    return (BusStream(page_change_topic, page_change_record),)
