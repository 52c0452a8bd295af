"""By what a consumer knows a record: its key, which keeps a page in one partition, and an output's `meta.id`, which
tells a repeat from another event. A wrong one costs the consumer events, however right the content is.
"""

import orjson

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.source_event import SourceEvent

_MOST_ERROR_KEY_BYTES = 1024
"""An error event is small whatever its source is: it leaves out a longer key."""
_SHOWN = 60


class OutputIds:
    """The ids of outputs so far, and whose they are."""

    def __init__(self) -> None:
        self._of: dict[str, SourceEvent] = {}

    def wrong(self, value: bytes, event: SourceEvent) -> str | None:
        """What is wrong with the id of an event's output; None for nothing, or where it has none. The same source event
        at another position may have the same.
        """
        output_id = _id(value)
        if output_id is None:
            return None
        first = self._of.setdefault(output_id, event)
        if first is event or (event.event_id is not None and first.event_id == event.event_id):
            return None
        return f"its meta.id is that of the output of {first.name}, so a consumer takes it for a repeat"


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


def _id(value: bytes) -> str | None:
    try:
        found = orjson.loads(value)["meta"]["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _text(key: bytes) -> str:
    return repr(key[:_SHOWN].decode(errors="replace"))
