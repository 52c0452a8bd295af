"""Operations on the entities of a Wikibase, as `rdf-resolve` reads them: import, diff, delete.

    mix          operation
    create       import of a new entity
    delete       delete
    undelete     import of a deleted entity, at a revision of its own
    redirect     diff to a revision at which an item or lexeme is a redirect, as it stays
    merge        one of two diffs: an item gets the sitelinks of another one, and that one becomes a redirect to it
    the others   diff to a revision that the entity gets then; its first operation is an import

Eight of ten entities are items, one is a property, one a lexeme. The item that gets the sitelinks comes first in every
other merge, second in those between; other entities' operations may come between the two. A merge without its second
place is a plain diff.

`pages` names entities by the titles of their pages: `Q42`, `Property:P31`, `Lexeme:L7`. An entity's operations are
numbered from 1. A canary of the mix is a diff.
"""

import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import cycle
from random import Random

from devkit.errors import UsageError
from devkit.traffic.entity_life import EntityLife, entity_id, entity_page, entity_title
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import draw_sha1
from devkit.traffic.moments import EPOCH, to_milliseconds
from devkit.traffic.records import Expected, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, SlotKind, plan
from devkit.traffic.users import draw_users

_LETTERS = "QQQPQQLQQQ"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-operation")
_SOURCE_TOPIC = "mediawiki.revision-create"
_SIZE_BYTES = 20_000
_TITLE = re.compile("(Q|Property:P|Lexeme:L)[1-9][0-9]{0,9}")
_LAST_NAMED = 1_000
"""Named entities have smaller numbers, or others that are free."""


def generate_operations(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    """Raises UsageError for what only page changes have, and for a named page that is no entity's."""
    _require_operations(stream)
    return _Operations(stream.model_copy(update={"mix": stream.mix.of_entities()}), beside).traffic()


class _Operations:
    """One run of the generator; it is used once."""

    def __init__(self, stream: Stream, beside: Sequence[GeneratedPage]) -> None:
        self._stream, self._rng = stream, Random(stream.seed)
        self._user = draw_users(self._rng, 1)[0]
        self._wiki, self._domain = next(iter(stream.wikis.items()))
        self._titles = {page.title for page in beside}
        self._next_page_id = max((page.page_id for page in beside), default=0) + 1
        self._last_number = _LAST_NAMED
        self._letters = cycle(_LETTERS)
        self._merges = 0
        self._merge_slots_left = 0
        self._second_of_merge: EntityLife | None = None
        self._named = {title: self._begin(entity_id(title)) for title in stream.pages}
        self._drawn = [self._begin(self._free_id(next(self._letters))) for _ in range(stream.population)]
        self._repeated: dict[int, SourceRecord] = {}

    def traffic(self) -> Traffic:
        slots = plan(self._stream, self._rng)
        self._merge_slots_left = sum(slot.kind == "merge" for slot in slots)
        records = tuple(self._record(index, slot) for index, slot in enumerate(slots))
        entities = (*self._named.values(), *self._drawn)
        return Traffic(records, tuple(entity.page.generated() for entity in entities))

    def _record(self, index: int, slot: Slot) -> SourceRecord:
        if slot.repeated is not None and slot.kind == "repeat":
            first = self._repeated[slot.repeated]
            expected = first.expected.model_copy(update={"repeat": True})
            return replace(first, index=index, at=slot.at, expected=expected)
        entity = self._named[slot.named_page] if slot.named_page else self._choose(slot.kind)
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
        record = SourceRecord(index, slot.at, entity.id.encode(), value, expected)
        if slot.repeated is not None:
            self._repeated[slot.repeated] = record
        return record

    def _choose(self, kind: SlotKind) -> EntityLife:
        match kind:
            case "create":
                return self._new(next(self._letters))
            case "undelete":
                return self._draw("QPL", is_deleted=True)
            case "redirect":
                entity = self._draw("QL")
                entity.redirect_to(self._draw(entity.id[0], beside=entity))
                return entity
            case "merge":
                return self._choose_for_merge()
        return self._draw("QPL")

    def _choose_for_merge(self) -> EntityLife:
        self._merge_slots_left -= 1
        if self._second_of_merge is not None:
            second, self._second_of_merge = self._second_of_merge, None
            return second
        if not self._merge_slots_left:
            return self._draw("QPL")
        source = self._draw("Q", prefers_stored=True)
        target = self._draw("Q", beside=source)
        target.merge(source)
        source.redirect_to(target)
        first, self._second_of_merge = (source, target) if self._merges % 2 else (target, source)
        self._merges += 1
        return first

    def _draw(
        self, letters: str, *, beside: EntityLife | None = None, is_deleted: bool = False, prefers_stored: bool = False
    ) -> EntityLife:
        """One that can be revised; a new one where there is none."""
        excluded = (beside, self._second_of_merge)
        fit = [
            entity
            for entity in self._drawn
            if entity.id[0] in letters and entity.is_deleted is is_deleted and entity not in excluded
            if not entity.is_redirect and not entity.page.is_full
        ]
        if not fit:
            return self._new(letters[0])
        stored = [entity for entity in fit if entity.in_store is not None] if prefers_stored else []
        return self._rng.choice(stored or fit)

    def _new(self, letter: str) -> EntityLife:
        self._drawn.append(self._begin(self._free_id(letter)))
        return self._drawn[-1]

    def _change(self, entity: EntityLife, slot: Slot, when: datetime) -> str:
        """The operation that the change of an entity is."""
        if slot.kind == "delete" and entity.in_store is not None:
            entity.is_deleted = True
            return "delete"
        entity.page.revise(when, self._user, "", _SIZE_BYTES, draw_sha1(self._rng))
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

    def _free_id(self, letter: str) -> str:
        self._last_number += 1
        while entity_title(f"{letter}{self._last_number}") in self._titles:
            self._last_number += 1
        return f"{letter}{self._last_number}"

    def _begin(self, entity: str) -> EntityLife:
        """An entity that exists before the traffic begins."""
        page = entity_page(self._wiki, self._domain, self._next_page_id, entity)
        self._titles.add(page.place.title)
        self._next_page_id += 1
        page.revise(EPOCH, self._user, "", _SIZE_BYTES, draw_sha1(self._rng))
        return EntityLife(entity, page)


def _operation(entity: EntityLife, op: str, index: int, when: datetime) -> dict[str, object]:
    """The next operation of the entity."""
    rev, sequence = entity.page.latest.rev_id, entity.sequence + 1
    operation: dict[str, object] = {"entity": entity.id, "op": op, "rev": rev}
    if op == "diff":
        operation["from_rev"] = entity.in_store
    operation_id = str(uuid.uuid5(_NAMESPACE, f"{entity.id} {rev} {op} {sequence}"))
    sources = [[_SOURCE_TOPIC, 0, index]]
    return {**operation, "dt": to_milliseconds(when), "seq": sequence, "id": operation_id, "sources": sources}


def _require_operations(stream: Stream) -> None:
    """Refuse what only page changes have."""
    for title, page in stream.pages.items():
        if not _TITLE.fullmatch(title):
            raise UsageError(
                f"traffic.pages: {title!r} is no entity of a Wikibase",
                hint="name it by its page, such as Q42, Property:P31 or Lexeme:L7",
            )
        if page.event_bytes is not None:
            raise UsageError(f"traffic.pages.{title}.event_bytes: an operation has one size", hint="leave it out")
    for key in ("canaries", "patch"):
        if getattr(stream, key):
            raise UsageError(f"traffic.{key}: operations have none", hint="leave it out")
