"""Mutations: what an operation does to the triples of a store, as rdf_change events.

A mutation has one event for each chunk of its diff, and one without triples where there is none. `meta.request_id` is
the operation's id, `meta.id` a function of that and of the chunk, and both times are the operation's: a replay repeats
the records byte for byte. The entity's `seq` stands in a header, as the schema of the event is closed.

Triples are N-Triples lines, which are Turtle; any Turtle is read.
"""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

from pipeline.events import InvalidTerm
from pipeline.rdf.chunks import CHUNK_CHARACTERS, split_diff
from pipeline.rdf.operation import ENTITY_ID, Op, Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.rdf.triples import TURTLE, InvalidRdfError, Triple, parse_triples, serialize_triples, split_terms
from pipeline.records.error_event import Failure
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Headers, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import RDF_CHANGE_URI, rdf_change_validator

SEQ_HEADER = "entity-seq"
# A fixed width, so that a record's size does not depend on the number.
_SEQ_DIGITS = 19
_MAX_INTEGER = 2**53 - 1
_EXCERPT_BYTES = 120
# Any version of the same major one, as far as the stated schema admits its fields.
_READABLE = re.compile(re.escape(RDF_CHANGE_URI.rpartition("/")[0]) + r"/2\.[0-9]+\.[0-9]+")
_FIELDS = {
    "added": "rdf_added_data",
    "deleted": "rdf_deleted_data",
    "linked_shared": "rdf_linked_shared_data",
    "unlinked_shared": "rdf_unlinked_shared_data",
}


@dataclass(frozen=True, slots=True)
class MutationRecord:
    """One chunk as a record. One that `is_too_large` has a single triple and needs a claim check."""

    record: Record
    is_too_large: bool


@dataclass(frozen=True, slots=True)
class MutationChunk:
    """One chunk as it was read, at `offset` of its partition. `sequence` counts from 0 to `length` - 1. The diff has no
    term that a store does not take; `invalid_terms` are those that the record has instead.
    """

    entity: str
    op: Op
    rev: int
    seq: int
    dt: str
    request_id: str
    sequence: int
    length: int
    diff: TripleDiff
    offset: int
    invalid_terms: tuple[InvalidTerm, ...] = ()


def mutation_records(
    operation: Operation,
    diff: TripleDiff,
    *,
    topic: str,
    domain: str,
    characters: int = CHUNK_CHARACTERS,
    max_record_bytes: int | None = None,
) -> list[MutationRecord]:
    """The records of an operation with its diff, in their order. `domain` is the wiki's; `characters` bounds the text
    of a chunk, and `max_record_bytes` a record as the producer measures it.
    """
    headers: Headers = ((SEQ_HEADER, f"{operation.seq:0{_SEQ_DIGITS}d}".encode()),)

    def record_of(chunk: TripleDiff, sequence: int, length: int) -> Record:
        event = _event(operation, chunk, sequence, length, topic=topic, domain=domain)
        return Record(topic, operation.key, orjson.dumps(event), headers)

    payload_bytes = None
    if max_record_bytes is not None:
        frame = record_of(TripleDiff(*[(" ",)] * len(_FIELDS)), _MAX_INTEGER, _MAX_INTEGER)
        value_length_bytes = 5
        payload_bytes = max_record_bytes - _size(frame) - value_length_bytes
    chunks = split_diff(diff, characters=characters, payload_bytes=payload_bytes)
    records = [record_of(chunk, sequence, len(chunks)) for sequence, chunk in enumerate(chunks)]
    return [
        MutationRecord(record, max_record_bytes is not None and _size(record) > max_record_bytes) for record in records
    ]


def write_slim_value(value: bytes) -> bytes:
    """The value of a record whose triples are elsewhere."""
    event = orjson.loads(value)
    return orjson.dumps({key: part for key, part in event.items() if key not in _FIELDS.values()})


def read_chunk(value: bytes | None, headers: Headers, *, offset: int) -> MutationChunk:
    """The chunk in a record. Raises InvalidEventError, whose message names the offset and the field."""
    place = f"mutation at offset {offset}"
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError as error:
        excerpt = (value or b"")[:_EXCERPT_BYTES].decode(errors="replace")
        text = f"{place} is not JSON: {error}; it begins {excerpt!r}"
        raise InvalidEventError(Failure("malformed_json", text)) from error
    schema = document.get("$schema") if isinstance(document, dict) else None
    if isinstance(schema, str) and not _READABLE.fullmatch(schema):
        raise _invalid(f"{place} is of schema {schema[:200]!r}; only {RDF_CHANGE_URI} can be read")
    for violation in rdf_change_validator().iter_errors(document):
        field = "/".join(map(str, violation.instance_path)) or "(top)"
        raise _invalid(f"{place} is not a {RDF_CHANGE_URI} event at {field[:200]}: {violation.message[:250]}")
    if not ENTITY_ID.fullmatch(document["entity_id"]):
        raise _invalid(f"{place} has no entity's id at entity_id: {document['entity_id'][:100]!r}")
    seq = dict(headers).get(SEQ_HEADER, b"")
    if not seq.isdigit() or len(seq) > _SEQ_DIGITS:
        raise _invalid(f"{place} has no number in its header {SEQ_HEADER}: {seq[:_EXCERPT_BYTES]!r}")
    request_id = document["meta"].get("request_id")
    if request_id is None:
        raise _invalid(f"{place} has no meta/request_id")
    if document["sequence"] >= document["sequence_length"]:
        raise _invalid(f"{place} has sequence {document['sequence']} of {document['sequence_length']}")
    invalid_terms: list[InvalidTerm] = []
    parts = {name: _read_part(document, field, place, invalid_terms) for name, field in _FIELDS.items()}
    return MutationChunk(
        entity=document["entity_id"],
        op=cast("Op", document["operation"]),
        rev=int(document["rev_id"]),
        seq=int(seq),
        dt=document["dt"],
        request_id=request_id,
        sequence=int(document["sequence"]),
        length=int(document["sequence_length"]),
        diff=TripleDiff(**parts),
        offset=offset,
        invalid_terms=tuple(invalid_terms),
    )


def _event(
    operation: Operation, chunk: TripleDiff, sequence: int, length: int, *, topic: str, domain: str
) -> dict[str, Any]:
    return {
        "$schema": RDF_CHANGE_URI,
        "meta": {
            "stream": topic,
            "domain": domain,
            "id": str(uuid.uuid5(uuid.UUID(operation.id), str(sequence))),
            "request_id": operation.id,
            "dt": operation.dt,
        },
        "dt": operation.dt,
        "entity_id": operation.entity,
        "operation": operation.op,
        "rev_id": operation.rev,
        "sequence": sequence,
        "sequence_length": length,
        **dict(_written_parts(chunk)),
    }


def _written_parts(chunk: TripleDiff) -> Iterator[tuple[str, dict[str, str]]]:
    """A part without triples is absent."""
    for name, field in _FIELDS.items():
        if triples := getattr(chunk, name):
            yield field, {"mime_type": TURTLE, "data": serialize_triples(triples)}


def _read_part(
    document: dict[str, Any], field: str, place: str, invalid_terms: list[InvalidTerm]
) -> tuple[Triple, ...]:
    part = document.get(field)
    if part is None:
        return ()
    if part["mime_type"] != TURTLE:
        raise _invalid(f"{place} has {field}/mime_type {part['mime_type'][:100]!r}; only {TURTLE!r} can be read")
    try:
        triples = tuple(parse_triples(part["data"], source=f"{field}/data", invalid_terms=invalid_terms))
    except InvalidRdfError as error:
        raise _invalid(f"{place}: {error}") from error
    for triple in triples:
        subject, _, object_term = split_terms(triple)
        if subject.startswith("_:") or object_term.startswith(("_:", "<<")):
            raise _invalid(
                f"{place}: {field}/data has a blank node or a triple term, which no store could delete: "
                f"{triple[:_EXCERPT_BYTES]!r}"
            )
    return triples


def _size(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


def _invalid(message: str) -> InvalidEventError:
    return InvalidEventError(Failure("schema_violation", message))
