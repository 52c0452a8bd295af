"""An event and its outcomes, between the operator and the job."""

import orjson
import pytest

from pipeline.rdf.operation import Operation
from pipeline.records.event_id import event_id_in
from pipeline.updater.decided_event import DecidedEvent, decided_events
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, StateInconsistency
from pipeline.updater.source_event import SourceEvent
from tests.unit.pipeline.updater.source_events import source_event

ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
EVENT = source_event("revision-create", 2, 5, parent=1, event_id=ID, request_id="r")
OTHER = source_event("page-delete", 2, 6)


def operation(event: SourceEvent, seq: int = 3) -> Operation:
    return Operation(event.entity, "diff", 2, 1, "2026-03-02T09:00:00.000Z", seq, (event.position,))


@pytest.mark.parametrize(
    "outcomes",
    [
        (),
        (operation(EVENT),),
        (LapsedAction(EVENT),),
        (StateInconsistency(EVENT, "newer_revision_seen", -7),),
        (StateInconsistency(EVENT, "missed_undelete", 0), operation(EVENT)),
    ],
    ids=["nothing", "operation", "late", "inconsistent", "both"],
)
def test_the_job_reads_what_the_operator_wrote(outcomes: tuple[Outcome, ...]) -> None:
    decided = DecidedEvent(EVENT, outcomes)
    written = decided.to_bytes()
    assert DecidedEvent.from_bytes(written) == decided
    assert event_id_in(orjson.loads(written)) == ID


def test_an_event_without_an_id_has_none() -> None:
    assert event_id_in(orjson.loads(DecidedEvent(OTHER).to_bytes())) is None
    assert orjson.loads(DecidedEvent(None).to_bytes()) == {"meta": {}, "event": None, "outcomes": []}


def test_outcomes_are_grouped_by_their_event_in_order() -> None:
    inconsistent = StateInconsistency(OTHER, "newer_revision_seen", 2)
    outcomes: list[Outcome] = [operation(EVENT), inconsistent, operation(OTHER, 4), LapsedAction(EVENT)]
    events = {event.position: event for event in (EVENT, OTHER)}
    assert list(decided_events(outcomes, events)) == [
        DecidedEvent(EVENT, (operation(EVENT),)),
        DecidedEvent(OTHER, (inconsistent, operation(OTHER, 4))),
        DecidedEvent(EVENT, (LapsedAction(EVENT),)),
    ]


def test_only_an_event_of_an_entity_has_a_domain() -> None:
    assert [DecidedEvent(event).domain for event in (EVENT, None)] == ["www.wikidata.org", None]
