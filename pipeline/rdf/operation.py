"""The operation record: what is to be done about an entity, as it is decided and before anything is fetched.

    {"entity": "Q42", "op": "diff", "rev": 124, "from_rev": 123, "dt": "2026-03-02T09:00:00Z", "seq": 7,
     "id": "…", "sources": [["mediawiki.revision-create", 0, 4711]]}

Its key is the entity. `seq` counts the operations of an entity from 1, and `id` is a function of entity, revision, op
and `seq`: a replay repeats the record byte for byte. `sources` are the events that it was decided from.
"""

import re
import uuid
from dataclasses import dataclass
from typing import Literal, cast, get_args

import orjson

from pipeline.records.error_event import Failure
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.schemas import OPERATION_URI, operation_validator

Op = Literal["import", "diff", "delete", "reconcile"]
OPS: tuple[Op, ...] = get_args(Op)
ENTITY_ID = re.compile(r"[LMPQ][1-9][0-9]{0,18}")
"""An item, property, lexeme or media file; it is a part of an IRI as it is."""

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-operation")
_EXCERPT_BYTES = 120


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `from_rev` is there for a `diff` alone; `dt` is the time of its event, RFC 3339 in UTC."""

    entity: str
    op: Op
    rev: int
    from_rev: int | None
    dt: str
    seq: int
    sources: tuple[Position, ...]

    @property
    def domain(self) -> None:
        """None: no operation is a canary."""

    @property
    def id(self) -> str:
        """The UUID of the operation, and the request id of its mutation."""
        return operation_id(self.entity, self.rev, self.op, self.seq)

    @property
    def key(self) -> bytes:
        """The key of the record."""
        return self.entity.encode()

    def value(self) -> bytes:
        """The value of the record."""
        event: dict[str, object] = {"entity": self.entity, "op": self.op, "rev": self.rev}
        if self.from_rev is not None:
            event["from_rev"] = self.from_rev
        sources = [[position.topic, position.partition, position.offset] for position in self.sources]
        return orjson.dumps(event | {"dt": self.dt, "seq": self.seq, "id": self.id, "sources": sources})


def operation_id(entity: str, rev: int, op: Op, seq: int) -> str:
    """UUIDv5 of the four."""
    return str(uuid.uuid5(_NAMESPACE, f"{entity} {rev} {op} {seq}"))


def parse_operation(value: bytes | None) -> Operation:
    """The operation in a record's value.

    Raises InvalidEventError with `malformed_json` or `schema_violation`, whose message names the field.
    """
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError as error:
        excerpt = (value or b"")[:_EXCERPT_BYTES].decode(errors="replace")
        text = f"operation of {len(value or b'')} bytes is not JSON: {error}; it begins {excerpt!r}"
        raise InvalidEventError(Failure("malformed_json", text)) from error
    for violation in operation_validator().iter_errors(document):
        raise _invalid("/".join(map(str, violation.instance_path)) or "(top)", violation.message)
    operation = Operation(
        entity=document["entity"],
        op=cast("Op", document["op"]),
        rev=int(document["rev"]),
        from_rev=int(document["from_rev"]) if "from_rev" in document else None,
        dt=document["dt"],
        seq=int(document["seq"]),
        sources=tuple(Position(topic, int(partition), int(offset)) for topic, partition, offset in document["sources"]),
    )
    if operation.id != document["id"]:
        raise _invalid("id", f"{document['id']} is not {operation.id}, the id of entity, rev, op and seq")
    return operation


def _invalid(place: str, message: str) -> InvalidEventError:
    return InvalidEventError(Failure("schema_violation", f"not a {OPERATION_URI} at {place[:200]}: {message[:250]}"))
