"""By what a consumer knows a record: its key and partition, which keep a page in order, its `meta.id`, which tells a
repeat from another event, and the id of its source event, which an output and an error event of one have in common. A
wrong one costs the consumer events, however right the content is.
"""

from collections.abc import Collection

import orjson

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.source_event import SourceEvent

_EVENT_ID_HEADER = "source-event-id"
_MOST_ERROR_KEY_BYTES = 1024
"""An error event is small whatever its source is: it leaves out a longer key."""
_SHOWN = 60


class RecordIds:
    """The ids of records of one kind so far, and whose they are. `kind` is what a person calls one of them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._of: dict[str, SourceEvent] = {}

    def wrong(self, value: bytes, event: SourceEvent) -> str | None:
        """What is wrong with the id of an event's record; None for nothing, or where it has none. The same source event
        at another position may have the same; an event of another page or revision to which a producer gave the same id
        is another one.
        """
        record_id = _id(value)
        if record_id is None:
            return None
        first = self._of.setdefault(record_id, event)
        if first is event or (event.event_id is not None and _what(first) == _what(event)):
            return None
        return f"its meta.id is that of the {self._kind} of {first.name}, so a consumer takes it for a repeat"


class PagePlaces:
    """The partition of each page, by the key of its records, in each topic. One that has `grown` meanwhile has no such
    order: Kafka itself gives a key another partition then.
    """

    def __init__(self, grown: Collection[str] = ()) -> None:
        self._grown = frozenset(grown)
        self._partitions: dict[tuple[str, bytes | None], int] = {}

    def are_free(self, arrival: Arrival) -> bool:
        """Whether the record may lie in any partition, as it has no key, or its topic has grown."""
        return arrival.key is None or arrival.topic in self._grown

    def wrong(self, arrival: Arrival) -> str | None:
        """What is wrong with where a record lies whose key is right; None for nothing, or where it may lie anywhere."""
        if self.are_free(arrival):
            return None
        first = self._partitions.setdefault((arrival.topic, arrival.key), arrival.partition)
        if first == arrival.partition:
            return None
        return f"its page has records in partition {first} too, so a consumer meets them in any order"


def wrong_event_id(arrival: Arrival, event: SourceEvent) -> str | None:
    """None where the header names the event's id, or is not there: a program need not write it."""
    named = arrival.headers.get(_EVENT_ID_HEADER)
    if named is None or named.decode(errors="replace") == event.event_id:
        return None
    return f"its {_EVENT_ID_HEADER} is {_text(named)}; expected {event.event_id or 'none'}"


def wrong_key(arrival: Arrival, expected: bytes | None) -> str | None:
    """None where it is the expected one."""
    if arrival.key == expected:
        return None
    found = "it has no key" if arrival.key is None else f"its key is {_text(arrival.key)}"
    return f"{found}; expected {'none' if expected is None else _text(expected)}"


def wrong_error_key(arrival: Arrival, expected: bytes) -> str | None:
    """As `wrong_key`, of an error event."""
    if arrival.key is None and len(expected) > _MOST_ERROR_KEY_BYTES:
        return None
    return wrong_key(arrival, expected)


def _what(event: SourceEvent) -> tuple[object, ...]:
    expected = event.entry.expected
    return event.event_id, expected.page, expected.latest_revision, expected.parent_revision


def _id(value: bytes) -> str | None:
    try:
        found = orjson.loads(value)["meta"]["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _text(key: bytes) -> str:
    return repr(key[:_SHOWN].decode(errors="replace"))
