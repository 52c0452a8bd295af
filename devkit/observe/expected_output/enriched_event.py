"""An output that is its source event with what was fetched in the main slot, under another stream and a derived id."""

import hashlib
from typing import Any

import orjson


class EnrichedEvent:
    """By its canonical hash, with the main slot's `body` (None for none) and without."""

    def __init__(self, source_value: bytes, *, stream: str, body: str | None, schema: str | None = None) -> None:
        """`schema` is what the output names, where that is another than the source's."""
        event = orjson.loads(source_value)
        event["$schema"] = schema or event["$schema"]
        event["meta"]["stream"] = stream
        event["meta"].setdefault("dt", event["dt"])
        # Which id the pipeline derives is its own affair; that it is always the same shows in the repeats.
        event["meta"].pop("id", None)
        self._without_body = payload_hash(event)
        if body is not None:
            event["revision"]["content_slots"]["main"]["content_body"] = body
        self._with_body = payload_hash(event)

    def differs(self, event: dict[str, Any], *, body_removed: bool) -> str | None:
        """What is wrong with the event of an output; None for nothing. `event` is as `event_of` gives it."""
        wanted = self._without_body if body_removed else self._with_body
        return None if payload_hash(event) == wanted else "payload hash differs from the expected one"

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:
        """As `ExpectedOutput` has it."""
        event = event_of(value)
        return event if isinstance(event, str) else self.differs(event, body_removed=body_removed)


def event_of(value: bytes) -> dict[str, Any] | str:
    """The event of an output without its id; else why it is none."""
    try:
        event = orjson.loads(value)
        event["meta"].pop("id")
    except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError) as error:
        return f"not an event: {error!r}"
    return dict(event)


def payload_hash(event: Any) -> str:
    """SHA-256 of the canonical form: sorted keys, compact, UTF-8."""
    return hashlib.sha256(orjson.dumps(event, option=orjson.OPT_SORT_KEYS)).hexdigest()
