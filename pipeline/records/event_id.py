"""The id of a source event, `meta.id`: what it is known by wherever it stands.

A position says less: a topic that was made again, or moved to another cluster, has another event there. Only a UUID is
an id. What else a producer writes there may be of any size and type, and the same for many events.
"""

import re
from typing import Any

import orjson

from pipeline.records.record import Headers

HEADER = "source-event-id"
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def is_event_id(text: str) -> bool:
    """A UUID, as it is written in an event."""
    return _UUID.fullmatch(text) is not None


def event_id_in(document: Any) -> str | None:
    """The id of a parsed event; None without one."""
    text = _stated_in(document)
    return text if text is not None and is_event_id(text) else None


def event_id_of(value: bytes | None) -> str | None:
    """The id of an event's bytes; None without one, or where the value is no JSON."""
    text = stated_id(value)
    return text if text is not None and is_event_id(text) else None


def stated_id(value: bytes | None) -> str | None:
    """The text of `meta.id`, whatever its form, for people."""
    try:
        return _stated_in(orjson.loads(value or b""))
    except orjson.JSONDecodeError:
        return None


def event_id_headers(event_id: str | None) -> Headers:
    """To stand beside the headers of its position."""
    return () if event_id is None else ((HEADER, event_id.encode()),)


def _stated_in(document: Any) -> str | None:
    try:
        text = document["meta"]["id"]
    except (KeyError, TypeError):
        return None
    return text if isinstance(text, str) else None
