"""The events of a Wikibase from which operations are made: revisions, deletions and undeletions of its entities.

    mix                 event
    create              revision-create of a new entity
    delete              page-delete, or for one of four page-suppress, at the entity's last revision
    undelete            page-undelete at that revision; where nothing is deleted now, of an entity that was before
    redirect            revision-create at which an item or lexeme is a redirect, as it stays
    merge               one of two revision-creates: an item gets the sitelinks of another one, and that one becomes a
                        redirect to it
    move                revision-create of a page that is no entity, as entities are not moved
    not_json, not_schema    an event that cannot be read
    canary              a canary, in each topic in turn
    the others          revision-create of an entity

`devkit.traffic.entity_population` has the entities, `devkit.traffic.wikibase_topics` the topics. Canaries of `canaries`
are in every topic. A repeat is the same event, byte by byte, published later: it tells of the same moment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, cycle
from operator import attrgetter
from random import Random
from uuid import UUID

from devkit.errors import UsageError
from devkit.traffic.broken import not_json
from devkit.traffic.canary import CANARY_PAGE_ID, CANARY_WIKI
from devkit.traffic.entity_life import EntityLife
from devkit.traffic.entity_population import EntityPopulation, require_entities
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import PageLife, Place, draw_sha1
from devkit.traffic.moments import EPOCH
from devkit.traffic.page_change import Change, JsonObject, kafka_key
from devkit.traffic.records import DumpedEntities, Expected, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, plan
from devkit.traffic.wikibase_dump import dump_entities
from devkit.traffic.wikibase_event import event_of_stream, wikibase_canary
from devkit.traffic.wikibase_topics import WikibaseStream, WikibaseTopics

NOT_AN_ENTITY = "not_an_entity"
"""Why an event of a page that is none is filtered."""
_SUPPRESSED_SHARE = 0.25
_OTHER_PLACES = ((1, "Talk:Q{}"), (4, "Wikidata:Draft_{}"), (0, "Draft_{}"))
_MOVES = ("move", "move_with_redirect")


def generate_source_events(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    """Raises UsageError for what only page changes have, and for a named page that is no entity's."""
    require_entities(stream, noun="an event of an entity")
    if stream.patch:
        raise UsageError("traffic.patch: events of entities have none", hint="leave it out")
    return _SourceEvents(stream.model_copy(update={"mix": stream.mix.of_entities()}), beside).traffic()


class _SourceEvents:
    """One run of the generator; it is used once."""

    def __init__(self, stream: Stream, beside: Sequence[GeneratedPage]) -> None:
        self._stream, self._rng = stream, Random(stream.seed)
        self._topics = stream.wikibase_topics or WikibaseTopics()
        self._population = EntityPopulation(stream, self._rng, beside)
        self._canary_topics = cycle(self._topics.streams())
        self._other_numbers = count(1)
        self._broken_numbers = count()
        self._repeated: dict[int, SourceRecord] = {}

    def traffic(self) -> Traffic:
        slots = plan(self._stream.model_copy(update={"canaries": None}), self._rng)
        self._population.expect(slots)
        records = sorted([*map(self._record, slots), *self._canaries()], key=attrgetter("closes", "at"))
        in_time = tuple(replace(record, index=index) for index, record in enumerate(records))
        return Traffic(in_time, self._population.generated(), self._dump())

    def _dump(self) -> DumpedEntities | None:
        dump = self._stream.dump
        return None if dump is None else dump_entities(dump, self._population.entities, self._when(timedelta(0)))

    def _record(self, slot: Slot) -> SourceRecord:
        if slot.repeated is not None and slot.kind == "repeat":
            return _repeat(self._repeated[slot.repeated], slot.at)
        record = self._first(slot)
        if slot.repeated is not None:
            self._repeated[slot.repeated] = record
        return record

    def _first(self, slot: Slot) -> SourceRecord:
        if slot.kind == "canary":
            return self._canary(*next(self._canary_topics), slot.at)
        if slot.kind == "create_redirect":  # the plan of pages takes a creation for it
            slot = replace(slot, kind="create")
        if slot.kind in _MOVES:
            return self._of_other_page(slot)
        entity, when = self._population.choose(slot), self._when(slot.at)
        if slot.kind in ("not_json", "not_schema"):
            return self._broken(entity.page, slot)
        stream = self._change(entity, slot, when)
        expected = Expected(fate="output", page=entity.page.ref, latest_revision=entity.page.latest.rev_id)
        error = self._stream.pages[slot.named_page].error if slot.named_page else None
        if isinstance(error, str):
            expected = Expected(fate="error", reason=error)
        return self._published(stream, entity.page, slot.at, expected)

    def _change(self, entity: EntityLife, slot: Slot, when: datetime) -> WikibaseStream:
        """Which stream has what happens to the entity."""
        stream: WikibaseStream = "revision-create"
        if slot.kind == "delete":
            stream = "page-suppress" if self._rng.random() < _SUPPRESSED_SHARE else "page-delete"
        elif slot.kind == "undelete":
            stream = "page-undelete"
        elif slot.kind == "create":
            revisions = entity.page.revisions
            revisions[-1] = replace(revisions[-1], timestamp=when.replace(microsecond=0))
        else:
            self._population.revise(entity.page, when)
        if not entity.changes:
            entity.is_there_before = slot.kind not in ("create", "undelete")
        entity.is_deleted = slot.kind == "delete"
        entity.change(slot.at, None if entity.is_deleted else entity.page.latest.rev_id)
        return stream

    def _published(self, stream: WikibaseStream, page: PageLife, at: timedelta, expected: Expected) -> SourceRecord:
        event = self._event(stream, page, at)
        expected = expected.model_copy(update={"event_id": _id_of(event)})
        return self._record_of(stream, page, at, json_bytes(event), expected)

    def _record_of(
        self, stream: WikibaseStream, page: PageLife, at: timedelta, value: bytes, expected: Expected
    ) -> SourceRecord:
        delay = self._topics.delays.get(stream, timedelta(0)) * self._rng.random()
        key, topic = kafka_key(page.wiki, page.page_id), self._topics.topic(stream, at)
        return SourceRecord(0, at, key, value, expected, topic=topic, delay=delay)

    def _event(self, stream: WikibaseStream, page: PageLife, at: timedelta) -> JsonObject:
        performer = None if stream == "page-suppress" else self._population.user
        change = Change("edit", page, self._when(at), self._draw_id(), str(self._draw_id()), performer)
        return event_of_stream(stream, change if stream == "revision-create" else replace(change, reason="Cleanup"))

    def _of_other_page(self, slot: Slot) -> SourceRecord:
        number = next(self._other_numbers)
        namespace_id, title = _OTHER_PLACES[number % len(_OTHER_PLACES)]
        page = self._population.other_page(Place(namespace_id, title.format(number)))
        self._population.revise(page, self._when(slot.at))
        return self._published("revision-create", page, slot.at, Expected(fate="filtered", reason=NOT_AN_ENTITY))

    def _broken(self, page: PageLife, slot: Slot) -> SourceRecord:
        """An event that says once more what the entity's last one said."""
        event, number = self._event("revision-create", page, slot.at), next(self._broken_numbers)
        if slot.kind == "not_json":
            value = not_json(number, json_bytes(event), self._rng)
            expected = Expected(fate="error", reason="malformed_json")
        else:
            value = json_bytes(_without_sense(event, number))
            expected = Expected(fate="error", reason="schema_violation", event_id=_id_of(event))
        return self._record_of("revision-create", page, slot.at, value, expected)

    def _canaries(self) -> Iterator[SourceRecord]:
        """Those of `canaries`, in every topic."""
        canaries = self._stream.canaries
        if canaries is None:
            return
        for moment in canaries.moments(self._stream.for_):
            yield from (self._canary(*topic, moment) for topic in self._topics.streams())
        if (closing := canaries.closing) is not None:
            for topic, stream in self._topics.streams():
                for partition in range(closing.partitions):
                    canary = self._canary(topic, stream, self._stream.for_ + closing.after)
                    yield replace(canary, partition=partition, closes=True)

    def _canary(self, topic: str, stream: WikibaseStream, at: timedelta) -> SourceRecord:
        event = wikibase_canary(stream, self._when(at), self._draw_id(), draw_sha1(self._rng))
        expected = Expected(fate="filtered", reason="canary", event_id=_id_of(event))
        return SourceRecord(0, at, kafka_key(CANARY_WIKI, CANARY_PAGE_ID), json_bytes(event), expected, topic=topic)

    def _when(self, at: timedelta) -> datetime:
        return EPOCH + self._stream.shift + at

    def _draw_id(self) -> UUID:
        return UUID(int=self._rng.getrandbits(128), version=4)


def _repeat(first: SourceRecord, at: timedelta) -> SourceRecord:
    """A repeat changes nothing of its entity, so it may also come too late."""
    expected = first.expected.model_copy(update={"repeat": True, "may_lapse": True})
    return replace(first, delay=first.delay + at - first.at, expected=expected)


def _without_sense(event: JsonObject, turn: int) -> JsonObject:
    """A copy that breaks its schema in the way whose turn it is; `meta` stays whole."""
    name = ("page_title", "rev_id", "page_namespace", "database")[turn % 4]
    if turn % 2:
        return {**event, name: "latest" if name == "rev_id" else 0}
    return {key: value for key, value in event.items() if key != name}


def _id_of(event: JsonObject) -> str:
    meta = event["meta"]
    if not isinstance(meta, dict):
        raise TypeError(f"an event has meta, got {meta!r}")
    return str(meta["id"])
