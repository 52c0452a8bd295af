"""Error events, bounded by construction: ids, source position, class, a short message; never the payload.

The incident behind the rule: an error event that carried the whole event was itself too large for its topic, and the
loop moved there (records of 23,117,387 and 23,137,028 bytes). `errors.payload: full_event` makes such events.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import orjson

from located_config.redaction import redacted_text
from pipeline.records.error_types import ErrorType
from pipeline.records.event_id import event_id_headers
from pipeline.records.record import Headers, Position, Record
from pipeline.schemas import ERROR_URI, PAGE_CHANGE_URI

MAX_MESSAGE_CHARACTERS = 500
MAX_MESSAGE_BYTES = 1000
MAX_KEY_BYTES = 1024
MAX_SCHEMA_CHARACTERS = 200
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:error-event")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an event has no output; `message` is for people. `waits` is no error: the event waits for its page's turn."""

    error_type: ErrorType | Literal["waits"]
    message: str


def error_record(
    topic: str,
    failure: Failure,
    *,
    position: Position,
    event_id: str | None = None,
    key: bytes | None,
    appended: datetime,
    emitter: str,
    stream: str,
    schema: str = PAGE_CHANGE_URI,
    raw_event: bytes | None = None,
    headers: Headers = (),
) -> Record:
    """The error event of a source event of `schema`. Id and time are functions of the job, which is the `emitter`, of
    the source position and of the source event's id: a replay repeats it, and two jobs that share an error topic make
    two of it. `raw_event` goes in as it is, however large; `headers` are those to pass on.
    """
    timestamp = rfc3339(appended)
    event = {
        "$schema": ERROR_URI,
        "meta": {
            "stream": topic,
            "id": str(uuid.uuid5(_NAMESPACE, " ".join(filter(None, (emitter, str(position), event_id))))),
            "dt": timestamp,
        },
        "dt": timestamp,
        "emitter_id": emitter,
        "error_type": failure.error_type,
        "message": f"{bounded_message(failure.message)} (source {position})",
        "errored_schema_uri": schema[:MAX_SCHEMA_CHARACTERS],
        "errored_stream_name": stream,
    }
    if raw_event is not None:
        event["raw_event"] = raw_event.decode(errors="replace")
    value = orjson.dumps(event)
    bounded_key = key if key is not None and len(key) <= MAX_KEY_BYTES else None
    return Record(topic, bounded_key, value, position.headers() + event_id_headers(event_id) + headers)


def error_type_in(value: bytes) -> str:
    """The error type that an error event has, or a fetch_failure event."""
    event = orjson.loads(value)
    return str(event["error_type"] if "error_type" in event else event["exception_type"])


def rfc3339(moment: datetime) -> str:
    """UTC with milliseconds and `Z`; the moment has a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bounded_message(message: str) -> str:
    """At most `MAX_MESSAGE_BYTES` as JSON, and no secret, whatever the text: it may quote what an upstream sent."""
    message = redacted_text(message)
    # Cut first: only a short text is worth looking at character by character.
    short = message if len(message) <= MAX_MESSAGE_CHARACTERS else message[: MAX_MESSAGE_CHARACTERS - 1] + "…"
    # JSON writes a control character in six bytes, and cannot write half a surrogate pair at all.
    printable = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in short)
    return printable.encode()[:MAX_MESSAGE_BYTES].decode(errors="ignore")
