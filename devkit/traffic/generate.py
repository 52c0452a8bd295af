"""From a stream to its Traffic: equal streams give equal bytes, on any machine and at any time.

    spec ── plan ──> slots ── chronicle (pages live on) ──> events ── serialise, fill, break ──> records
                                                └── all pages with all revisions, for the mock

One random source, seeded by the spec, feeds everything in a fixed order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import orjson

from devkit.errors import UsageError
from devkit.traffic.broken import not_json, not_schema
from devkit.traffic.canary import CANARY_PAGE_ID, CANARY_WIKI, canary_of
from devkit.traffic.chronicle import Chronicle, Happening
from devkit.traffic.event_patch import patches_of
from devkit.traffic.fate import fate_of_value
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.moments import EPOCH, RECEIVED_AFTER, to_milliseconds
from devkit.traffic.page_change import JsonObject, kafka_key
from devkit.traffic.population import Population
from devkit.traffic.records import Expected, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, plan
from devkit.traffic.users import draw_users

_USERS = 50
_FILLER = b"the quick brown fox jumps over the lazy dog, "


def generate(spec: Stream, beside: Sequence[GeneratedPage] = ()) -> Traffic:
    """All records in order of `at`, and all pages, none of which has the id or title of one `beside`.

    Raises UsageError when an `event_bytes` is too small, and for what only entities have.
    """
    if spec.mix.merge:
        raise UsageError(
            "traffic.mix.merge: pages have none",
            hint="leave it out, or write `generator: wikibase_change` for entities",
        )
    return _Generation(spec, beside).traffic()


class _Generation:
    """One run of the generator; it is used once."""

    def __init__(self, spec: Stream, beside: Sequence[GeneratedPage]) -> None:
        self._spec, self._rng = spec, Random(spec.seed)
        users = draw_users(self._rng, _USERS)
        self._population = Population(
            self._rng, spec.wikis, users, tuple(spec.pages), spec.population, beside=beside, revisits=spec.revisits
        )
        self._chronicle = Chronicle(self._rng, self._population, users)
        self._broken_json, self._broken_schema = 0, 0
        self._edits: Counter[str] = Counter()
        self._repeated: dict[int, SourceRecord] = {}

    def traffic(self) -> Traffic:
        slots = plan(self._spec, self._rng)
        records = tuple(self._record(index, slot) for index, slot in enumerate(slots))
        return Traffic(records, tuple(page.generated() for page in self._population.pages))

    def _record(self, index: int, slot: Slot) -> SourceRecord:
        when = EPOCH + self._spec.shift + slot.at
        if slot.repeated is not None and slot.kind == "repeat":
            return _repeat(index, slot.at, self._repeated[slot.repeated], when)
        record = self._first(index, slot, when)
        if slot.repeated is not None:
            self._repeated[slot.repeated] = record
        return record

    def _first(self, index: int, slot: Slot, when: datetime) -> SourceRecord:
        if slot.named_page is not None:
            happening = self._chronicle.edit_named(slot.named_page, when)
            self._edits[slot.named_page] += 1
            patches = patches_of(self._spec.patch, slot.named_page, self._edits[slot.named_page])
            event = happening.event
            for patch in patches:
                event = patch.applied(event)
            page, value, expected = self._spec.pages[slot.named_page], _serialise(event), happening.expected
            if page.event_bytes is not None:
                value = _filled(event, page.event_bytes, slot.named_page)
            if isinstance(page.error, str):
                expected = Expected(fate="error", reason=page.error, event_id=expected.event_id)
            errors: dict[str, str] = {}
            for patch in patches:
                if isinstance(patch.error, str):
                    expected = Expected(fate="error", reason=patch.error, event_id=expected.event_id)
                elif patch.error is not None:
                    expected, errors = fate_of_value(value), errors | patch.error
            return replace(_of_page(index, slot.at, happening, value, expected), errors=errors)
        match slot.kind:
            case "canary":
                event_id = self._chronicle.draw_id()
                expected = Expected(fate="filtered", reason="canary", event_id=str(event_id))
                key = kafka_key(CANARY_WIKI, CANARY_PAGE_ID)
                value = _serialise(canary_of(when, event_id))
                closes = slot.closing is not None
                return SourceRecord(index, slot.at, key, value, expected, partition=slot.closing, closes=closes)
            case "repeat" | "merge":
                raise ValueError("a repeat has a number, and only entities are merged")
            case "not_json":
                happening = self._chronicle.happen("edit", when)
                value = not_json(self._broken_json, _serialise(happening.event), self._rng)
                self._broken_json += 1
                expected = Expected(fate="error", reason="malformed_json")
            case "not_schema":
                happening = self._chronicle.happen("edit", when)
                value = _serialise(not_schema(self._broken_schema, happening.event, self._rng))
                self._broken_schema += 1
                event_id_text = happening.expected.event_id
                expected = Expected(fate="error", reason="schema_violation", event_id=event_id_text)
            case kind:
                happening = self._chronicle.happen(kind, when)
                value, expected = _serialise(happening.event), happening.expected
        return _of_page(index, slot.at, happening, value, expected)


def _of_page(index: int, at: timedelta, happening: Happening, value: bytes, expected: Expected) -> SourceRecord:
    page = happening.page
    return SourceRecord(index, at, kafka_key(page.wiki, page.page_id), value, expected)


def _repeat(index: int, at: timedelta, first: SourceRecord, when: datetime) -> SourceRecord:
    """The same event as received again."""
    event = orjson.loads(first.value)
    event["meta"]["dt"] = to_milliseconds(when + RECEIVED_AFTER)
    expected = first.expected.model_copy(update={"repeat": True})
    return replace(first, index=index, at=at, value=_serialise(event), expected=expected)


def _serialise(event: JsonObject) -> bytes:
    """Compact UTF-8, as the stream carries it."""
    return json_bytes(event)


def _filled(event: JsonObject, event_bytes: int, title: str) -> bytes:
    """The event with its revision's comment replaced by as much text as makes it `event_bytes` long."""
    revision = event["revision"]
    if not isinstance(revision, dict):
        raise TypeError(f"an edit has a revision, got {revision!r}")
    bare_bytes = len(_serialise({**event, "revision": {**revision, "comment": ""}}))
    if event_bytes < bare_bytes:
        raise UsageError(
            f"pages.{title}.event_bytes: {event_bytes} is too small, {bare_bytes} bytes are there before any comment",
            hint=f"write {bare_bytes} or more, or leave event_bytes out",
        )
    missing = event_bytes - bare_bytes
    comment = (_FILLER * (missing // len(_FILLER) + 1))[:missing].decode("ascii")
    return _serialise({**event, "revision": {**revision, "comment": comment}})
