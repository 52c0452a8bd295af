"""One record of the output or the error topic, as far as it can be read without a store: its id, its source, its claim
check.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

import orjson

from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim
from pipeline.records.event_id import HEADER, is_event_id
from pipeline.records.record import Headers, Position
from pipeline.records.suppression import Suppression

_SHOWN = 60


class UnreadableOutputError(PipelineError):
    """A record of the output or the error topic that this job cannot have written, or a claim check that is not what it
    says.
    """


@dataclass(frozen=True, slots=True)
class Delivery:
    """`place` is where the record stands in its topic, `source` where its source event stood. `event` is what all
    records of a source event have in common: its id, or of one without an id its position. `fingerprint` tells whether
    a repeat is one byte for byte. With a `claim` the value has no content; what the store has is the whole of it.
    `suppresses` is what is to be hidden of what came before it. The `id` of an error event is its `event`: of its value
    no more is needed than which job it is of.
    """

    place: str
    kind: Literal["output", "error"]
    id: str
    source: Position
    event: str
    value: bytes
    claim: Claim | None
    fingerprint: bytes
    suppresses: Suppression | None = None


def read(place: str, value: bytes | None, headers: Headers) -> Delivery:
    """A record of the output topic. Raises UnreadableOutputError."""
    fields = dict(headers)
    try:
        output_id, source, claim = _id(value), _source(fields), Claim.of_headers(fields)
        event, suppresses = _event(fields, source), Suppression.of_headers(fields)
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableOutputError(
            f"record {place} is no output of this job: {_what(error)}",
            hint="check that sink.topic is the job's output topic, and that no other program writes there",
        ) from error
    payload = value or b""
    return Delivery(
        place, "output", output_id, source, event, payload, claim, _fingerprint(payload, headers), suppresses
    )


def read_error(place: str, value: bytes | None, headers: Headers, *, job: str) -> Delivery | None:
    """A record of the error topic, None where it is of another job: several may share the topic, and an event of which
    one of them has made an error event may well have the output of another. Raises UnreadableOutputError.
    """
    try:
        if _emitter(value) != job:
            return None
        fields = dict(headers)
        source = _source(fields)
        event = _event(fields, source)
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableOutputError(
            f"record {place} is no error event of this job: {_what(error)}",
            hint="check that sink.error_topic is the job's error topic, and that no other program writes there",
        ) from error
    payload = value or b""
    return Delivery(place, "error", event, source, event, payload, None, _fingerprint(payload, headers))


def _source(fields: dict[str, bytes]) -> Position:
    return Position(fields["source-topic"].decode(), int(fields["source-partition"]), int(fields["source-offset"]))


def _event(fields: dict[str, bytes], source: Position) -> str:
    """No id has a slash, as each position has."""
    if HEADER not in fields:
        return str(source)
    event_id = fields[HEADER].decode()
    if not is_event_id(event_id):
        raise ValueError(f"{HEADER} is {event_id[:_SHOWN]!r}, no UUID")
    return event_id


def _what(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


def _id(value: bytes | None) -> str:
    if value is None:
        raise ValueError("it has no value")
    output_id = orjson.loads(value)["meta"]["id"]
    if not isinstance(output_id, str):
        raise TypeError(f"meta.id is {output_id!r}, no text")
    return output_id


def _emitter(value: bytes | None) -> str:
    if value is None:
        raise ValueError("it has no value")
    emitter = orjson.loads(value)["emitter_id"]
    if not isinstance(emitter, str):
        raise TypeError(f"emitter_id is {emitter!r}, no text")
    return emitter


def _fingerprint(value: bytes, headers: Headers) -> bytes:
    digest = hashlib.blake2b(value, digest_size=16)
    for name, content in headers:
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
