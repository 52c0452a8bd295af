"""Events of an entity put in order and decided, beside the source's operator and its table of transitions."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.operation import Operation
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, next_release_ms, release
from pipeline.updater.source_event import ACTIONS, Action, SourceEvent
from pipeline.updater.transitions import Transition, decide
from tests.unit.pipeline.updater.source_events import START_MS, described, source_event
from tests.unit.pipeline.updater.source_rules import TABLE, SourceModel

WINDOW = 10
RULES = ReorderRules(WINDOW)
LONG_AGO = START_MS - 1000
Step = SourceEvent | int
LAST = {"undefined": 0, "created": 20, "deleted": -20}
REV = {"any": 7, "older": 19, "same": 20, "newer": 21}


def play(steps: list[Step], rules: ReorderRules = RULES, state: EntityState | None = None) -> list[Outcome]:
    """What comes of events, each by itself, and of watermarks between them."""
    state, watermark, outcomes = state or EntityState(), LONG_AGO, list[Outcome]()
    for step in steps:
        if isinstance(step, int):
            watermark = START_MS + step
            state, made = (done := release(state, watermark, rules)).state, done.outcomes
        else:
            state, made = (done := accept(state, [step], watermark, rules)).state, done.outcomes
        outcomes.extend(made)
    assert state.buffered == ()
    return outcomes


def create(rev: int, time: int, parent: int | None = None) -> SourceEvent:
    return source_event("revision-create", rev, time, parent=parent)


def delete(rev: int, time: int) -> SourceEvent:
    return source_event("page-delete", rev, time)


def undelete(rev: int, time: int) -> SourceEvent:
    return source_event("page-undelete", rev, time)


# The first group are the cases of the source's own test of its operator.
CASES: dict[str, tuple[list[Step], list[str]]] = {
    "revisions in reverse": (
        [create(3, 30, 2), create(1, 5), 42, create(2, 45, 1), create(2, 4, 1)],
        ["import 1", "diff 3 from 1", "newer_revision_seen 2 beside 3", "late 2"],
    ),
    "deletion first": (
        [delete(3, 103), create(1, 100), create(2, 102, 1), 200],
        ["import 1", "diff 2 from 1", "delete 3"],
    ),
    "deletion": ([create(1, 1), delete(1, 2), 200], ["import 1", "delete 1"]),
    "deletion of an unknown entity": ([delete(1, 1), 200], ["newer_revision_seen 1 beside 0"]),
    "old deletion": ([create(2, 1), 20, delete(1, 25), 200], ["import 2", "newer_revision_seen 1 beside 2"]),
    "deletion without its revision": ([create(1, 1), delete(2, 2), 200], ["import 1", "delete 2"]),
    "revision after its deletion": (
        [create(1, 1), delete(2, 2), 25, create(2, 40, 1), 200],
        ["import 1", "delete 2", "newer_revision_seen 2 beside -2"],
    ),
    "revision without an undeletion": (
        [create(1, 1), delete(1, 2), create(2, 3, 1), 200],
        ["import 1", "delete 1", "missed_undelete 2 beside -1"],
    ),
    "undeletion": ([create(1, 1), delete(1, 2), undelete(1, 3), 200], ["import 1", "delete 1", "import 1"]),
    "old undeletion": (
        [create(1, 1), create(2, 2), 20, undelete(1, 25), 200],
        ["import 1", "diff 2 from 1", "newer_revision_seen 1 beside 2"],
    ),
    "undeletion of an unknown entity": ([undelete(1, 1), create(2, 2), 200], ["import 1", "diff 2 from 1"]),
    "reconciliation": (
        [create(2, 2), 200, source_event("reconcile-creation", 2, 300), create(3, 300, 2)],
        ["import 2", "reconcile 2", "diff 3 from 2"],
    ),
    "ambiguous reconciliation": (
        [create(2, 2), 200, source_event("reconcile-deletion", 2, 300), undelete(2, 300), 400],
        ["import 2", "reconcile_ambiguous_deletion 2 beside 2", "delete 2", "import 2"],
    ),
    "undeletion of what exists": ([create(2, 1), undelete(2, 2), 200], ["import 2", "unmatched_delete 2 beside 2"]),
    "repeated revision before a deletion": (
        [create(1, 0), 20, delete(1, 22), create(1, 20), 200],
        ["import 1", "newer_revision_seen 1 beside 1", "delete 1"],
    ),
    # Others.
    "late reconciliation": ([20, source_event("reconcile-creation", 2, 9)], ["late 2"]),
    "at the deadline": ([20, create(1, 10), 20, 21], ["import 1"]),
    "after its deletion, both at the deadline": ([20, delete(1, 10), 20, create(1, 10), 21], ["import 1", "delete 1"]),
    "after the deadline": ([21, create(1, 10), 21], ["late 1"]),
    "continues while others wait": (
        [create(1, 1), 20, create(5, 30, 4), create(2, 25, 1), 35, 200],
        ["import 1", "diff 2 from 1", "diff 5 from 2"],
    ),
    "continues at once": (
        [create(1, 1), 20, create(2, 25, 1), create(3, 26, 2)],
        ["import 1", *("diff 2 from 1", "diff 3 from 2")],
    ),
}


@pytest.mark.parametrize(("steps", "expected"), CASES.values(), ids=CASES)
def test_what_comes_of_events_and_watermarks(steps: list[Step], expected: list[str]) -> None:
    assert list(map(described, play(steps))) == expected


@st.composite
def any_steps(draw: st.DrawFn) -> list[Step]:
    """Events in no order that could have happened, but no two of one revision and time; watermarks do not go back."""
    steps: list[Step] = []
    numbers = st.tuples(st.integers(1, 6), st.integers(0, 40), st.none() | st.integers(1, 6))
    events = draw(st.lists(st.tuples(st.sampled_from(ACTIONS), numbers), max_size=14, unique_by=lambda of: of[1][:2]))
    watermark = 0
    for action, (rev, time, parent) in events:
        rev = draw(st.just(0) | st.just(rev)) if action == "reconcile-deletion" else rev
        steps.append(source_event(action, rev, time, parent=parent if action == "revision-create" else None))
        watermark += draw(st.sampled_from([0, 0, 1, 5, 12]))
        steps.append(watermark)
    return [*steps, 1000]


@given(steps=any_steps(), continue_at_once=st.booleans())
def test_the_outcomes_are_those_of_the_source(steps: list[Step], *, continue_at_once: bool) -> None:
    model = SourceModel(WINDOW, continue_at_once)
    for step in steps:
        if isinstance(step, int):
            model.advance(START_MS + step)
        else:
            model.process(step)
    outcomes = play(steps, ReorderRules(WINDOW, continue_at_once))
    assert list(map(described, outcomes)) == model.said
    operations = [outcome for outcome in outcomes if isinstance(outcome, Operation)]
    assert [operation.seq for operation in operations] == list(range(1, len(operations) + 1))


def test_the_timer_is_that_of_the_first_event_whose_time_is_over() -> None:
    state = accept(EntityState(), [create(3, 30), create(1, 35)], LONG_AGO, RULES).state
    assert [event.rev for event in state.buffered] == [1, 3]
    due_ms = next_release_ms(state, RULES)
    assert due_ms == START_MS + 41
    assert release(state, due_ms - 1, RULES) == release(state, LONG_AGO, RULES)
    left = release(state, due_ms, RULES)
    assert list(map(described, left.outcomes)) == ["import 1", "diff 3 from 1"]
    assert next_release_ms(left.state, RULES) is None


def test_without_a_window_each_event_is_decided_as_it_comes() -> None:
    outcomes = play([create(2, 2, 1), delete(1, 1), create(1, 0)], ReorderRules(0))
    assert list(map(described, outcomes)) == [
        "import 2",
        "newer_revision_seen 1 beside 2",
        "newer_revision_seen 1 beside 2",
    ]


def test_what_waited_before_the_window_was_taken_away_leaves_first() -> None:
    waiting = accept(EntityState(), [create(5, 10)], LONG_AGO, RULES).state
    step = accept(waiting, [delete(5, 15)], LONG_AGO, ReorderRules(0))
    left = release(step.state, START_MS + 16, ReorderRules(0))
    assert [*map(described, (*step.outcomes, *left.outcomes))] == ["import 5", "delete 5"]


@pytest.mark.parametrize("action", ["page-delete", "page-undelete", "revision-create"])
def test_only_an_event_that_continues_an_existing_entity_passes_at_once(action: Action) -> None:
    event = source_event(action, 2, 5, parent=1)
    for last in (1, 0, -1, 3):
        passes = accept(EntityState(last=last), [event], LONG_AGO, RULES).state.buffered == ()
        assert passes == (action == "revision-create" and last in (1, 3))
    assert accept(EntityState(last=1), [event], LONG_AGO, ReorderRules(WINDOW, False)).state.buffered == (event,)


def test_the_rows_of_a_batch_give_the_same_in_any_order() -> None:
    rows = [create(6, 5, 5), delete(5, 1), undelete(5, 2), create(6, 5, 5), source_event("reconcile-creation", 4, 3)]
    first = accept(EntityState(last=5, seq=8), rows, LONG_AGO, RULES)
    assert list(map(described, first.outcomes)) == ["reconcile 5"]
    assert all(accept(EntityState(last=5, seq=8), order, LONG_AGO, RULES) == first for order in permutations(rows))


def test_the_table_has_a_cell_for_every_state_and_event() -> None:
    rows = [("undefined", "any"), *product(("created", "deleted"), ("older", "same", "newer"))]
    assert set(TABLE) == {(*row, action) for row in rows for action in ACTIONS}


@pytest.mark.parametrize(("status", "relation", "action"), TABLE, ids=" ".join)
def test_a_transition_is_that_of_the_source(status: str, relation: str, action: Action) -> None:
    last, rev = LAST[status], REV[relation]
    op, _, rest = TABLE[status, relation, action].partition(" ")
    transition = decide(last, action, rev)
    if not rest:
        assert transition == Transition(last, inconsistency=op)  # type: ignore[arg-type]
        return
    whose, _, doubt = rest.partition(" ")
    operated = rev if whose == "event" else abs(last)
    assert (transition.op, transition.rev, transition.inconsistency) == (op, operated, doubt or None)
    assert transition.last == (-operated if op == "delete" else operated)
    assert transition.from_rev == (last if op == "diff" else None)


@pytest.mark.parametrize(("last", "rev"), [(0, 1), (20, 20), (-20, 20)])
def test_a_deletion_of_unknown_revision_is_made_whatever_is_known(last: int, rev: int) -> None:
    """The entity is then as one that was never seen, so that its next event imports it."""
    assert decide(last, "reconcile-deletion", 0) == Transition(0, "delete", rev)
