"""One record of the output topic, as far as it can be read without a store: its id, its source, its claim check."""

import hashlib
from dataclasses import dataclass

import orjson

from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim
from pipeline.records.record import Headers, Position


class UnreadableOutputError(PipelineError):
    """A record of the output topic that this job cannot have written, or a claim check that is not what it says."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """`place` is where the record stands in the output topic, `source` its source event. `fingerprint` tells whether a
    repeat is one byte for byte. With a `claim` the value has no content; what the store has is the whole of it.
    """

    place: str
    id: str
    source: Position
    value: bytes
    claim: Claim | None
    fingerprint: bytes


def read(place: str, value: bytes | None, headers: Headers) -> Delivery:
    """Raises UnreadableOutputError."""
    named = dict(headers)
    try:
        event_id = _id(value)
        source = Position(named["source-topic"].decode(), int(named["source-partition"]), int(named["source-offset"]))
        claim = Claim.of_headers(named)
    except (ValueError, KeyError, TypeError) as error:
        what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise UnreadableOutputError(
            f"record {place} is no output of this job: {what}",
            hint="check that sink.topic is the job's output topic, and that no other program writes there",
        ) from error
    whole = value or b""
    return Delivery(place, event_id, source, whole, claim, _fingerprint(whole, headers))


def _id(value: bytes | None) -> str:
    if value is None:
        raise ValueError("it has no value")
    event_id = orjson.loads(value)["meta"]["id"]
    if not isinstance(event_id, str):
        raise TypeError(f"meta.id is {event_id!r}, no text")
    return event_id


def _fingerprint(value: bytes, headers: Headers) -> bytes:
    digest = hashlib.blake2b(value, digest_size=16)
    for name, content in headers:
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
