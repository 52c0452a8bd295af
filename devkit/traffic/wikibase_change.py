"""Operations on the entities of a Wikibase, as `rdf-resolve` reads them: import, diff, delete.

    mix          operation
    create       import of a new entity
    delete       delete
    undelete     import of a deleted entity, at a revision of its own
    redirect     diff to a revision at which an item or lexeme is a redirect, as it stays
    merge        one of two diffs: an item gets the sitelinks of another one, and that one becomes a redirect to it
    the others   diff to a revision that the entity gets then; its first operation is an import

`devkit.traffic.entity_population` has the entities. An entity's operations are numbered from 1. A canary of the mix is
a diff.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from random import Random

from devkit.errors import UsageError
from devkit.traffic.entity_life import EntityLife
from devkit.traffic.entity_population import EntityPopulation, require_entities
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.moments import EPOCH
from devkit.traffic.rdf_operation import rdf_operation
from devkit.traffic.records import Expected, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, plan

_SOURCE_TOPIC = "mediawiki.revision-create"


def generate_operations(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    """Raises UsageError for what only page changes have, and for a named page that is no entity's."""
    _require_operations(stream)
    return _Operations(stream.model_copy(update={"mix": stream.mix.of_entities()}), beside).traffic()


class _Operations:
    """One run of the generator; it is used once."""

    def __init__(self, stream: Stream, beside: Sequence[GeneratedPage]) -> None:
        self._stream, self._rng = stream, Random(stream.seed)
        self._population = EntityPopulation(stream, self._rng, beside)
        self._repeated: dict[int, SourceRecord] = {}

    def traffic(self) -> Traffic:
        slots = plan(self._stream, self._rng)
        self._population.expect(slots)
        records = tuple(self._record(index, slot) for index, slot in enumerate(slots))
        return Traffic(records, self._population.generated())

    def _record(self, index: int, slot: Slot) -> SourceRecord:
        if slot.repeated is not None and slot.kind == "repeat":
            first = self._repeated[slot.repeated]
            expected = first.expected.model_copy(update={"repeat": True})
            return replace(first, index=index, at=slot.at, expected=expected)
        entity = self._population.choose(slot)
        is_broken = slot.kind in ("not_json", "not_schema")
        when = EPOCH + self._stream.shift + slot.at
        op = "import" if is_broken else self._change(entity, slot, when)
        operation = rdf_operation(
            entity.id,
            op,
            entity.page.latest.rev_id,
            from_rev=entity.in_store,
            when=when,
            seq=entity.sequence + 1,
            source=(_SOURCE_TOPIC, 0, index),
        )
        value, expected = json_bytes(operation), self._expected(entity, op, str(operation["id"]), slot)
        if slot.kind == "not_json":
            value, expected = value[:-1], Expected(fate="error", reason="malformed_json")
        elif slot.kind == "not_schema":
            value = json_bytes({**operation, "seq": 0})
            expected = Expected(fate="error", reason="schema_violation", event_id=expected.event_id)
        else:
            entity.sequence += 1
            entity.in_store = None if op == "delete" else entity.page.latest.rev_id
        record = SourceRecord(index, slot.at, entity.id.encode(), value, expected, time_field=("dt",))
        if slot.repeated is not None:
            self._repeated[slot.repeated] = record
        return record

    def _change(self, entity: EntityLife, slot: Slot, when: datetime) -> str:
        """The operation that the change of an entity is."""
        if slot.kind == "delete" and entity.in_store is not None:
            entity.is_deleted = True
            return "delete"
        self._population.revise(entity.page, when)
        entity.is_deleted = False
        return "import" if entity.in_store is None else "diff"

    def _expected(self, entity: EntityLife, op: str, operation_id: str, slot: Slot) -> Expected:
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


def _require_operations(stream: Stream) -> None:
    """Refuse what only page changes have."""
    require_entities(stream, noun="an operation")
    for key in ("canaries", "patch"):
        if getattr(stream, key):
            raise UsageError(f"traffic.{key}: operations have none", hint="leave it out")
