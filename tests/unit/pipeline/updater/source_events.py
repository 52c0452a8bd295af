"""Source events for tests, and what becomes of an entity's store by operations."""

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.rdf.operation import Operation
from pipeline.records.record import Position
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, StateInconsistency
from pipeline.updater.source_event import Action, SourceEvent

TOPICS: Mapping[Action, str] = {
    "revision-create": "mediawiki.revision-create",
    "page-delete": "mediawiki.page-delete",
    "page-undelete": "mediawiki.page-undelete",
    "reconcile-creation": "rdf-streaming-updater.reconcile",
    "reconcile-deletion": "rdf-streaming-updater.reconcile",
}
START_MS = 1_772_442_000_000
"""2026-03-02T09:00:00Z, at which the tests' clocks begin."""


def source_event(action: Action, rev: int, time: int, **fields: Any) -> SourceEvent:
    """An event of Q1 at `time` milliseconds after the start."""
    made: dict[str, Any] = {
        "entity": "Q1",
        "parent": None,
        "appended_ms": START_MS + time,
        "position": Position(f"eqiad.{TOPICS[action]}", 0, time),
        "schema": "/a/schema/1.0.0",
        "stream": TOPICS[action],
        "domain": "www.wikidata.org",
        "event_id": None,
        "request_id": None,
    }
    return SourceEvent(action=action, rev=rev, time_ms=START_MS + time, **(made | fields))


def described(outcome: Outcome) -> str:
    """As the tests' tables have it."""
    if isinstance(outcome, LapsedAction):
        return f"late {outcome.event.rev}"
    if isinstance(outcome, StateInconsistency):
        return f"{outcome.inconsistency} {outcome.event.rev} beside {outcome.last}"
    return f"{outcome.op} {outcome.rev}" + ("" if outcome.from_rev is None else f" from {outcome.from_rev}")


def apply_to_store(store: dict[str, int], outcomes: Iterable[Outcome]) -> None:
    """Makes the operations' changes of a store that has a revision of each entity. A diff fits the revision that it
    begins at, and no other.
    """
    for outcome in outcomes:
        if not isinstance(outcome, Operation):
            continue
        if outcome.op == "delete":
            store.pop(outcome.entity, None)
            continue
        if outcome.op == "diff":
            assert store[outcome.entity] == outcome.from_rev
        store[outcome.entity] = outcome.rev
