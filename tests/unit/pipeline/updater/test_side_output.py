"""Decided events, and the records of events that came too late or do not fit."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from pipeline.rdf.operation import ENTITY_ID, Operation
from pipeline.records.event_id import event_id_in
from pipeline.schemas import RDF_LAPSED_URI, STATE_INCONSISTENCY_URI, validator_of
from pipeline.updater.decided_event import DecidedEvent, decided_events
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, StateInconsistency, side_record
from pipeline.updater.source_event import SourceEvent
from tests.unit.pipeline.updater.source_events import source_event

ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
EVENT = source_event(
    "revision-create", 124, 150, parent=123, appended_ms=1_772_442_001_000, event_id=ID, request_id="a request"
)
ORIGINAL = {
    "$schema": "/a/schema/1.0.0",
    "dt": "2026-03-02T09:00:00.150Z",
    "meta": {
        "stream": "mediawiki.revision-create",
        "dt": "2026-03-02T09:00:00.150Z",
        "domain": "www.wikidata.org",
        "id": ID,
        "request_id": "a request",
    },
}
COMMON = {
    "emitter_id": "job",
    "item": "Q1",
    "action_type": "revision-create",
    "revision_id": 124,
    "parent_revision_id": 123,
    "original_ingestion_dt": "2026-03-02T09:00:01.000Z",
    "original_event_info": ORIGINAL,
}
NEWER: dict[str, Any] = {"$schema": STATE_INCONSISTENCY_URI, "inconsistency": "newer_revision_seen"}
CREATION = source_event("revision-create", 2, 5, parent=1, event_id=ID, request_id="r")
DELETION = source_event("page-delete", 2, 6)


def beside(last: int) -> StateInconsistency:
    return StateInconsistency(EVENT, "newer_revision_seen", last)


def read(output: LapsedAction | StateInconsistency, emitter: str = "job") -> dict[str, Any]:
    record = side_record(output, topic="side", emitter=emitter)
    event: dict[str, Any] = orjson.loads(record.value)
    validator = validator_of(event["$schema"])
    assert validator is not None
    validator.validate(event)
    assert (record.topic, record.key) == ("side", b"Q1")
    assert dict(record.headers)["source-offset"] == b"%019d" % output.event.position.offset
    return event


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (LapsedAction(EVENT), {"$schema": RDF_LAPSED_URI}),
        (beside(0), NEWER | {"state_status": "UNDEFINED"}),
        (beside(125), NEWER | {"state_status": "CREATED", "state_revision_id": 125}),
        (beside(-125), NEWER | {"state_status": "DELETED", "state_revision_id": 125}),
    ],
    ids=["late", "unknown", "created", "deleted"],
)
def test_a_record_names_event_and_state(output: LapsedAction | StateInconsistency, expected: dict[str, Any]) -> None:
    event = read(output)
    meta = event.pop("meta")
    assert event == COMMON | expected
    assert meta.pop("id")
    assert meta == {
        "stream": "side",
        "dt": "2026-03-02T09:00:01.000Z",
        "domain": "www.wikidata.org",
        "request_id": "a request",
    }


def test_an_event_with_the_least_there_can_be_has_its_records() -> None:
    event = source_event("reconcile-deletion", 0, 0)
    assert ENTITY_ID.fullmatch(event.entity)
    lapsed, inconsistent = read(LapsedAction(event)), read(StateInconsistency(event, "missed_undelete", 0))
    assert "parent_revision_id" not in lapsed
    assert inconsistent["original_event_info"]["meta"] == {
        "stream": "rdf-streaming-updater.reconcile",
        "dt": "2026-03-02T09:00:00.000Z",
        "domain": "www.wikidata.org",
    }


def test_each_record_has_an_id_of_its_own_that_a_repeat_has_again() -> None:
    elsewhere = replace(EVENT, position=replace(EVENT.position, offset=9))
    outputs: list[LapsedAction | StateInconsistency] = [
        LapsedAction(EVENT),
        StateInconsistency(EVENT, "missed_undelete", -1),
        LapsedAction(elsewhere),
        LapsedAction(replace(EVENT, event_id=None)),
    ]
    ids = [read(output)["meta"]["id"] for output in outputs] + [read(outputs[0], emitter="another")["meta"]["id"]]
    assert len(set(ids)) == 5
    assert read(outputs[0])["meta"]["id"] == ids[0]


def operation(event: SourceEvent, seq: int = 3) -> Operation:
    return Operation(event.entity, "diff", 2, 1, "2026-03-02T09:00:00.000Z", seq, (event.position,))


@pytest.mark.parametrize(
    "outcomes",
    [
        (),
        (operation(CREATION),),
        (LapsedAction(CREATION),),
        (StateInconsistency(CREATION, "newer_revision_seen", -7),),
        (StateInconsistency(CREATION, "missed_undelete", 0), operation(CREATION)),
    ],
    ids=["nothing", "operation", "late", "inconsistent", "both"],
)
def test_the_job_reads_what_the_operator_wrote(outcomes: tuple[Outcome, ...]) -> None:
    decided = DecidedEvent(CREATION, outcomes)
    written = decided.to_bytes()
    assert DecidedEvent.from_bytes(written) == decided
    assert event_id_in(orjson.loads(written)) == ID


def test_an_event_without_an_id_has_none() -> None:
    assert event_id_in(orjson.loads(DecidedEvent(DELETION).to_bytes())) is None
    assert orjson.loads(DecidedEvent(None).to_bytes()) == {"meta": {}, "event": None, "outcomes": []}


def test_outcomes_are_grouped_by_their_event_in_order() -> None:
    inconsistent = StateInconsistency(DELETION, "newer_revision_seen", 2)
    outcomes: list[Outcome] = [operation(CREATION), inconsistent, operation(DELETION, 4), LapsedAction(CREATION)]
    events = {event.position: event for event in (CREATION, DELETION)}
    assert list(decided_events(outcomes, events)) == [
        DecidedEvent(CREATION, (operation(CREATION),)),
        DecidedEvent(DELETION, (inconsistent, operation(DELETION, 4))),
        DecidedEvent(CREATION, (LapsedAction(CREATION),)),
    ]


def test_only_an_event_of_an_entity_has_a_domain() -> None:
    assert [DecidedEvent(event).domain for event in (CREATION, None)] == ["www.wikidata.org", None]
