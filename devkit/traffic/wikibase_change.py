"""Operations on the entities of a Wikibase, as `rdf-resolve` reads them: import, diff, delete.

    mix          operation
    create       import of a new entity
    delete       delete
    undelete     import of a deleted entity, at a revision of its own
    the others   diff to a revision that the entity gets then; its first operation is an import

`pages` names entities: `Q42`. An entity's operations are numbered from 1. A canary of the mix is a diff.
"""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from devkit.errors import UsageError
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import PageLife, Place, draw_sha1
from devkit.traffic.moments import EPOCH, to_milliseconds
from devkit.traffic.records import Expected, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, plan
from devkit.traffic.users import draw_users

ITEM = "wikibase-item"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-operation")
_SOURCE_TOPIC = "mediawiki.revision-create"
_SIZE_BYTES = 20_000
_FIRST_NUMBER = 1_000
"""Named entities have smaller numbers, or others that are free."""


def generate_operations(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    """Raises UsageError for what only page changes have, and for a named page that is no item's id."""
    _require_operations(stream)
    return _Operations(stream, beside).traffic()


@dataclass
class _Entity:
    """`in_store` is the revision that the operations so far come to, None where they come to no entity."""

    page: PageLife
    sequence: int = 0
    in_store: int | None = None
    is_deleted: bool = False


class _Operations:
    """One run of the generator; it is used once."""

    def __init__(self, stream: Stream, beside: Sequence[GeneratedPage]) -> None:
        self._stream, self._rng = stream, Random(stream.seed)
        self._user = draw_users(self._rng, 1)[0]
        self._wiki, self._domain = next(iter(stream.wikis.items()))
        self._titles = {page.title for page in beside}
        self._next_page_id = max((page.page_id for page in beside), default=0) + 1
        self._next_number = _FIRST_NUMBER
        self._named = {title: self._entity(title) for title in stream.pages}
        self._drawn = [self._entity() for _ in range(stream.population)]
        self._repeated: dict[int, SourceRecord] = {}

    def traffic(self) -> Traffic:
        records = tuple(self._record(index, slot) for index, slot in enumerate(plan(self._stream, self._rng)))
        entities = (*self._named.values(), *self._drawn)
        return Traffic(records, tuple(entity.page.generated() for entity in entities))

    def _record(self, index: int, slot: Slot) -> SourceRecord:
        if slot.repeated is not None and slot.kind == "repeat":
            first = self._repeated[slot.repeated]
            expected = first.expected.model_copy(update={"repeat": True})
            return replace(first, index=index, at=slot.at, expected=expected)
        entity = self._named[slot.named_page] if slot.named_page else self._choose(slot)
        is_broken = slot.kind in ("not_json", "not_schema")
        when = EPOCH + self._stream.shift + slot.at
        op = "import" if is_broken else self._change(entity, slot, when)
        operation = _operation(entity, op, index, when)
        value, expected = json_bytes(operation), self._expected(entity, op, str(operation["id"]), slot)
        if slot.kind == "not_json":
            value, expected = value[:-1], Expected(fate="error", reason="malformed_json")
        elif slot.kind == "not_schema":
            value = json_bytes({**operation, "seq": 0})
            expected = Expected(fate="error", reason="schema_violation", event_id=expected.event_id)
        else:
            entity.sequence += 1
            entity.in_store = None if op == "delete" else entity.page.latest.rev_id
        record = SourceRecord(index, slot.at, entity.page.place.title.encode(), value, expected)
        if slot.repeated is not None:
            self._repeated[slot.repeated] = record
        return record

    def _choose(self, slot: Slot) -> _Entity:
        wants_deleted = slot.kind == "undelete"
        fit = [entity for entity in self._drawn if entity.is_deleted is wants_deleted and not entity.page.is_full]
        if slot.kind == "create" or not fit:
            self._drawn.append(self._entity())
            return self._drawn[-1]
        return self._rng.choice(fit)

    def _change(self, entity: _Entity, slot: Slot, when: datetime) -> str:
        """The operation that the change of an entity is."""
        if slot.kind == "delete" and entity.in_store is not None:
            entity.is_deleted = True
            return "delete"
        entity.page.revise(when, self._user, "", _SIZE_BYTES, draw_sha1(self._rng))
        entity.is_deleted = False
        return "import" if entity.in_store is None else "diff"

    def _expected(self, entity: _Entity, op: str, operation_id: str, slot: Slot) -> Expected:
        named = self._stream.pages[slot.named_page] if slot.named_page else None
        if named is not None and isinstance(named.error, str):
            return Expected(fate="error", reason=named.error, event_id=operation_id)
        return Expected(
            fate="output",
            event_id=operation_id,
            page=entity.page.ref,
            latest_revision=None if op == "delete" else entity.page.latest.rev_id,
            parent_revision=entity.in_store if op == "diff" else None,
        )

    def _entity(self, title: str | None = None) -> _Entity:
        while title is None or title in self._titles:
            title = f"Q{self._next_number}"
            self._next_number += 1
        self._titles.add(title)
        page = PageLife(self._wiki, self._domain, self._next_page_id, Place(0, title), ITEM, "application/json")
        self._next_page_id += 1
        page.revise(EPOCH, self._user, "", _SIZE_BYTES, draw_sha1(self._rng))
        return _Entity(page)


def _operation(entity: _Entity, op: str, index: int, when: datetime) -> dict[str, object]:
    """The next operation of the entity."""
    title, rev, sequence = entity.page.place.title, entity.page.latest.rev_id, entity.sequence + 1
    operation: dict[str, object] = {"entity": title, "op": op, "rev": rev}
    if op == "diff":
        operation["from_rev"] = entity.in_store
    operation_id = str(uuid.uuid5(_NAMESPACE, f"{title} {rev} {op} {sequence}"))
    sources = [[_SOURCE_TOPIC, 0, index]]
    return {**operation, "dt": to_milliseconds(when), "seq": sequence, "id": operation_id, "sources": sources}


def _require_operations(stream: Stream) -> None:
    """Refuse what only page changes have."""
    for title, page in stream.pages.items():
        if not re.fullmatch("Q[1-9][0-9]*", title):
            raise UsageError(
                f"traffic.pages: {title!r} is no item of a Wikibase", hint="name it by its id, such as Q42"
            )
        if page.event_bytes is not None:
            raise UsageError(f"traffic.pages.{title}.event_bytes: an operation has one size", hint="leave it out")
    for key in ("canaries", "patch"):
        if getattr(stream, key):
            raise UsageError(f"traffic.{key}: operations have none", hint="leave it out")
