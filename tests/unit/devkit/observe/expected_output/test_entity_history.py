"""The kit's own model of what an entity's events come to, beside the pipeline's modules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.observe.error_types import INCONSISTENCIES
from devkit.observe.expected_output.entity_history import EntityEvent, Kind, Status, history, outcome_of
from pipeline.rdf.operation import Operation
from pipeline.records.record import Position
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, release
from pipeline.updater.side_output import LapsedAction
from pipeline.updater.source_event import Action, SourceEvent
from pipeline.updater.transitions import Inconsistency, decide

KINDS: tuple[Kind, ...] = get_args(Kind)
ACTIONS: dict[Kind, Action] = {"create": "revision-create", "delete": "page-delete", "undelete": "page-undelete"}
LAST: dict[Status, int] = {"nothing": 0, "created": 5, "deleted": -5}
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
WINDOW_MS = 1_000
FAR_MS = 4 * 10**12
IN_ORDER, AT_ONCE = ReorderRules(WINDOW_MS, continue_at_once=False), ReorderRules(WINDOW_MS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "rev"), [(status, rev) for status in LAST for rev in (4, 5, 6) if status != "nothing" or rev == 6]
)
def test_each_transition_is_that_of_the_job(status: Status, rev: int, kind: Kind) -> None:
    transition = decide(LAST[status], ACTIONS[kind], rev)
    assert outcome_of(kind, rev, status, abs(LAST[status])) == (transition.op or transition.inconsistency)
    if transition.op is None:
        assert transition.last == LAST[status]
    else:
        assert (transition.rev, transition.last) == (rev, -rev if transition.op == "delete" else rev)
        assert transition.from_rev == (LAST[status] if transition.op == "diff" else None)


def test_the_kit_knows_every_inconsistency() -> None:
    assert set(get_args(Inconsistency)) == INCONSISTENCIES


@dataclass(frozen=True)
class Published:
    """An event that arrives at `arrives_ms`, the time of the wiki's clock."""

    event: EntityEvent
    arrives_ms: int

    def parsed(self) -> SourceEvent:
        event = self.event
        return SourceEvent(
            entity=event.entity,
            action=ACTIONS[event.kind],
            rev=event.rev,
            parent=event.parent or None,
            time_ms=milliseconds(event.time),
            appended_ms=milliseconds(event.time),
            position=Position(*event.position),
            schema="",
            stream="",
            domain="",
            event_id=None,
            request_id=None,
        )


def milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


@st.composite
def lives(draw: st.DrawFn) -> list[Published]:
    """Of one entity that may have existed before, with repeats; each event is late by less than the window."""
    made: list[Published] = []
    rev, is_there, at_ms = draw(st.integers(0, 1)), True, 0
    for _ in range(draw(st.integers(1, 14))):
        kind: Kind = draw(st.sampled_from(("create", "create", "delete"))) if is_there else "undelete"
        if kind == "create" or rev == 0:
            kind, parent, rev = "create", rev, rev + 1
        else:
            parent = 0
        is_there = kind != "delete"
        # Several within a window, or windows apart.
        at_ms += draw(st.integers(1, 300)) if draw(st.booleans()) else WINDOW_MS + draw(st.integers(1, 2_000))
        time = START + timedelta(milliseconds=at_ms)
        event = EntityEvent("Q1", kind, rev, parent, time, (kind, 0, 2 * len(made)))
        delay_ms = draw(st.integers(0, WINDOW_MS - 1))
        made.append(Published(event, milliseconds(time) + delay_ms))
        if draw(st.integers(0, 9)) == 0:
            repeat = replace(event, position=(kind, 0, 2 * len(made) + 1))
            later_ms = draw(st.integers(delay_ms, WINDOW_MS - 1))
            made.append(Published(repeat, milliseconds(time) + later_ms))
    return made


def decided(life: Sequence[Published], rules: ReorderRules, batch_ms: int) -> list[Outcome]:
    """By the pipeline, in a batch each `batch_ms`. Other entities' events, of each moment, move the watermark."""
    state, outcomes = EntityState(), list[Outcome]()
    in_time = sorted(life, key=lambda it: (it.arrives_ms, it.event.position))
    for number, batch in groupby(in_time, key=lambda it: it.arrives_ms // batch_ms):
        before = release(state, (number - 1) * batch_ms, rules)
        accepted = accept(before.state, [it.parsed() for it in batch], number * batch_ms, rules)
        released = release(accepted.state, number * batch_ms, rules)
        state = released.state
        outcomes += (*before.outcomes, *accepted.outcomes, *released.outcomes)
    return [*outcomes, *release(state, FAR_MS, rules).outcomes]


def position(outcome: Outcome) -> tuple[str, int, int]:
    source = outcome.sources[0] if isinstance(outcome, Operation) else outcome.event.position
    return source.topic, source.partition, source.offset


def described(outcome: Outcome) -> tuple[str, int | None]:
    assert not isinstance(outcome, LapsedAction)
    return (outcome.op, outcome.from_rev) if isinstance(outcome, Operation) else (outcome.inconsistency, None)


def stored(outcomes: Iterable[Outcome]) -> int | None:
    """The revision that the operations end with."""
    operations = [outcome for outcome in outcomes if isinstance(outcome, Operation)]
    return operations[-1].rev if operations and operations[-1].op != "delete" else None


@settings(max_examples=200, deadline=None)
@given(life=lives(), batch_ms=st.sampled_from((1, 200, 1_500)))
def test_any_arrival_within_the_window_gives_what_happened(life: list[Published], batch_ms: int) -> None:
    expected = history(it.event for it in life)
    assert {position(outcome): described(outcome) for outcome in decided(life, IN_ORDER, batch_ms)} == {
        at: (decision.outcome, decision.from_rev) for at, decision in expected.decisions.items()
    }
    assert stored(decided(life, IN_ORDER, batch_ms)) == expected.revisions["Q1"]


@settings(max_examples=200, deadline=None)
@given(life=lives(), batch_ms=st.sampled_from((1, 200, 1_500)))
def test_a_revision_that_passes_at_once_changes_only_what_it_overtakes(life: list[Published], batch_ms: int) -> None:
    expected = history(it.event for it in life)
    outcomes = decided(life, AT_ONCE, batch_ms)
    assert {position(outcome) for outcome in outcomes} == expected.decisions.keys()
    for outcome in outcomes:
        decision = expected.decisions[position(outcome)]
        alternatives = {("newer_revision_seen", None)} if decision.may_be_newer else set()
        assert described(outcome) in {(decision.outcome, decision.from_rev), *alternatives}
    assert stored(outcomes) == expected.revisions["Q1"]


def test_a_revision_overtakes_a_deletion_and_its_undeletion() -> None:
    """Both arrive when the revision behind them has passed already."""
    steps: list[tuple[Kind, int, int, int, int]] = [
        ("create", 1, 0, 0, 0),
        ("create", 2, 1, 2_000, 100),
        ("delete", 2, 0, 4_000, 900),
        ("undelete", 2, 0, 4_100, 850),
        ("create", 3, 2, 4_200, 0),
    ]
    life = [
        Published(
            EntityEvent("Q1", kind, rev, parent, START + timedelta(milliseconds=at_ms), (kind, 0, rev)),
            milliseconds(START) + at_ms + delay_ms,
        )
        for kind, rev, parent, at_ms, delay_ms in steps
    ]
    outcomes = {position(outcome): described(outcome)[0] for outcome in decided(life, AT_ONCE, 1)}
    overtaken = {("delete", 0, 2): "newer_revision_seen", ("undelete", 0, 2): "newer_revision_seen"}
    expected = history(it.event for it in life)
    assert outcomes == {at: decision.outcome for at, decision in expected.decisions.items()} | overtaken
    assert {at for at, decision in expected.decisions.items() if decision.may_be_newer} == overtaken.keys()
    assert stored(decided(life, AT_ONCE, 1)) == expected.revisions["Q1"] == 3
