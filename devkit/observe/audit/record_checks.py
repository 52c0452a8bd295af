"""Checks of one record besides its content: key, partition, ids, schema, and the source of a lapsed_action event.

A consumer keeps the order of a page by key and partition, knows a repeat by `meta.id`, and relates an error event to an
output by the id of their source event. A wrong one costs it events. Each check returns what is wrong, None for nothing.
"""

from collections.abc import Collection
from typing import Any

import orjson

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.audit.source_event import SourceEvent, place
from pipeline.schemas import validator_of

_EVENT_ID_HEADER = "source-event-id"
_MOST_ERROR_KEY_BYTES = 1024
"""An error event leaves out a longer key, to be small whatever its source is."""
_SHOWN = 60
_MOST_MESSAGE_CHARACTERS = 200


class RecordIds:
    """The source event of each record id, for records of one kind. `kind` is the name of such a record in messages."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._events: dict[str, SourceEvent] = {}

    def wrong(self, value: bytes, event: SourceEvent) -> str | None:
        """Whether another event has a record with this id; a record without an id is never wrong.

        The same source event at another position may have the same id. An event of another page or revision is another
        event, also where its producer gave it the same id.
        """
        record_id = _record_id(value)
        if record_id is None:
            return None
        first = self._events.setdefault(record_id, event)
        if first is event or (event.event_id is not None and _identity(first) == _identity(event)):
            return None
        return f"its meta.id is that of the {self._kind} of {first.name}, so a consumer takes it for a repeat"


class PagePlaces:
    """The partition of each page, by the key of its records, in each topic. In topics that have `grown` any partition
    is right: Kafka itself gives a key another partition then.
    """

    def __init__(self, grown: Collection[str] = ()) -> None:
        self._grown = frozenset(grown)
        self._partitions: dict[tuple[str, bytes | None], int] = {}

    def are_free(self, arrival: Arrival) -> bool:
        """Whether any partition is right for the record: it has no key, or its topic has grown."""
        return arrival.key is None or arrival.topic in self._grown

    def wrong(self, arrival: Arrival) -> str | None:
        """Whether the record is in the partition of its page. Its key is known to be right."""
        if self.are_free(arrival):
            return None
        first = self._partitions.setdefault((arrival.topic, arrival.key), arrival.partition)
        if first == arrival.partition:
            return None
        return f"its page has records in partition {first} too, so a consumer meets them in any order"


def wrong_event_id(arrival: Arrival, event: SourceEvent) -> str | None:
    """Whether the header names the event's id. A program need not write the header."""
    event_id = arrival.headers.get(_EVENT_ID_HEADER)
    if event_id is None or event_id.decode(errors="replace") == event.event_id:
        return None
    return f"its {_EVENT_ID_HEADER} is {_text(event_id)}; expected {event.event_id or 'none'}"


def wrong_key(arrival: Arrival, expected: bytes | None) -> str | None:
    """Whether the record has the expected key."""
    if arrival.key == expected:
        return None
    actual = "it has no key" if arrival.key is None else f"its key is {_text(arrival.key)}"
    return f"{actual}; expected {'none' if expected is None else _text(expected)}"


def wrong_error_key(arrival: Arrival, expected: bytes) -> str | None:
    """As `wrong_key`, for an error event, which may leave a long key out."""
    if arrival.key is None and len(expected) > _MOST_ERROR_KEY_BYTES:
        return None
    return wrong_key(arrival, expected)


def wrong_lapsed_source(value: bytes, event: SourceEvent) -> str | None:
    """Whether a lapsed_action event names its own event, or none. An operator sends again what it names."""
    try:
        lapsed = orjson.loads(value)
        source = lapsed.get("source")
        position = None if source is None else _position(source)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        return f"not a lapsed_action event: {error!r}"
    if position is not None and position != event.position:
        return f"it says that {place(position)} lapsed"
    if lapsed.get("event_id") not in (None, event.event_id):
        return f"it says that event {lapsed['event_id']} lapsed"
    return None


def schema_violation(value: bytes) -> str | None:
    """Whether an event is valid by the schema that it names, as the producer itself would say.

    A schema that the producer does not state is not checked.
    """
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return f"not JSON: {error}"
    schema = event.get("$schema") if isinstance(event, dict) else None
    validator = validator_of(schema) if isinstance(schema, str) else None
    for violation in () if validator is None else validator.iter_errors(event):
        path = "/".join(map(str, violation.instance_path)) or "(top)"
        return f"not valid by {schema} at {path}: {violation.message[:_MOST_MESSAGE_CHARACTERS]}"
    return None


def _position(source: dict[str, Any]) -> Position:
    return str(source["topic"]), int(source["partition"]), int(source["offset"])


def _identity(event: SourceEvent) -> tuple[object, ...]:
    expected = event.entry.expected
    return event.event_id, expected.page, expected.latest_revision, expected.parent_revision


def _record_id(value: bytes) -> str | None:
    try:
        record_id = orjson.loads(value)["meta"]["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return record_id if isinstance(record_id, str) else None


def _text(key: bytes) -> str:
    return repr(key[:_SHOWN].decode(errors="replace"))
