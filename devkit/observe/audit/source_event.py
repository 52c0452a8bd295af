"""The input events of an arm: each with its name for a person, and those of which several have one id."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import orjson

from devkit.observe.audit.arrivals import Position
from devkit.observe.checkpoint import SourcePartition
from devkit.traffic.manifest import ManifestEntry

_TopicAndId = tuple[str, str | None]


@dataclass(frozen=True)
class SourceEvent:
    """Its manifest entry and the bytes that were published.

    `published_ms` is when it was, since the epoch; None where the record's own time says it.
    """

    entry: ManifestEntry
    key: bytes
    value: bytes
    published_ms: int | None = None

    @property
    def position(self) -> Position:
        """In the source topic: what the headers of its records and the keys of the deferral topic name."""
        return self.entry.topic, self.entry.partition, self.entry.offset

    @property
    def partition(self) -> SourcePartition:
        """Where in the source it lies, offset aside: the place within which order is kept."""
        return self.entry.topic, self.entry.partition

    @property
    def event_id(self) -> str | None:
        """None where the bytes do not say it."""
        return self.entry.expected.event_id or self._at("meta", "id")

    @property
    def page(self) -> str | None:
        """Its title as people write it; None where the bytes do not say it."""
        expected = self.entry.expected
        title = expected.page.title if expected.page else self._at("page", "page_title")
        return title.replace("_", " ") if title else None

    @property
    def name(self) -> str:
        """`page 'Main Page', event 0b9e…, source mediawiki.page_change.v1/0/17`; what the bytes do not say is left out.

        Topic, partition and offset are there always: an event that cannot be parsed has nothing else.
        """
        parts = [f"page {self.page!r}"] if self.page else []
        parts += [f"event {self.event_id}"] if self.event_id else []
        return ", ".join([*parts, f"source {place(self.position)}"])

    def _at(self, section: str, key: str) -> str | None:
        try:
            value = orjson.loads(self.value)[section][key]
        except (orjson.JSONDecodeError, TypeError, KeyError):
            return None
        return value if isinstance(value, str) else None


def place(position: Position) -> str:
    """`topic/partition/offset`."""
    return "/".join(map(str, position))


class RepeatedEvents:
    """The events of which several have one id, as their generator says. A program that removes duplicates may drop all
    but one of them:

    emitted of one id    not emitted
    none                 each of them is lost
    n                    the others are dropped as repeats; a consumer gets n - 1 repeats
    """

    def __init__(self, events: Iterable[SourceEvent]) -> None:
        known = [*events]
        ids = {_topic_and_id(event) for event in known if event.entry.expected.repeat}
        self._ids: dict[Position, _TopicAndId] = {}
        if ids:
            self._ids = {event.position: _topic_and_id(event) for event in known if _topic_and_id(event) in ids}

    def count(self, positions: Collection[Position]) -> Counter[_TopicAndId]:
        """How many events of each id are at these positions."""
        return Counter(self._ids[position] for position in positions if position in self._ids)

    def with_ids(self, ids: Counter[_TopicAndId]) -> set[Position]:
        """The positions of all events with one of these ids."""
        return {position for position, event_id in self._ids.items() if ids[event_id]}


def _topic_and_id(event: SourceEvent) -> _TopicAndId:
    return event.entry.topic, event.event_id
