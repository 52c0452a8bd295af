"""What a lapsed_action event says of its event: the operator who sends again what lapsed goes by it alone."""

from typing import Any

import orjson

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent, place


def wrong_source(value: bytes, event: SourceEvent) -> str | None:
    """How it names another event than its own; None for nothing, and where it names none."""
    try:
        said = orjson.loads(value)
        named = None if said.get("source") is None else _position(said["source"])
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        return f"not a lapsed_action event: {error!r}"
    if named not in (None, event.position):
        return f"it says that {place(named)} lapsed"
    if said.get("event_id") not in (None, event.event_id):
        return f"it says that event {said['event_id']} lapsed"
    return None


def _position(source: dict[str, Any]) -> Position:
    return str(source["topic"]), int(source["partition"]), int(source["offset"])
