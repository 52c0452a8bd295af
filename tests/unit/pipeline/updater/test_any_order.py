"""Whatever the order in which an entity's events arrive inside the window, its store ends in the same state."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.operation import Operation, parse_operation
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, release
from pipeline.updater.side_output import LapsedAction, side_record
from pipeline.updater.source_event import SourceEvent
from tests.unit.pipeline.updater.entity_lives import ENTITIES, WINDOW, Batch, Life, arrivals, lives
from tests.unit.pipeline.updater.source_events import START_MS, apply_to_store, source_event

IN_ORDER = ReorderRules(WINDOW, continue_at_once=False)
AT_ONCE = ReorderRules(WINDOW)
FAR_MS = START_MS + 10**6


@st.composite
def arriving_lives(draw: st.DrawFn) -> tuple[dict[str, Life], list[Batch]]:
    made = {entity: draw(lives(entity, first_rev)) for first_rev, entity in enumerate(ENTITIES, start=1)}
    return made, draw(arrivals([event for life in made.values() for event in life.events]))


def run(batches: Iterable[Batch], rules: ReorderRules, known: dict[str, int] | None = None) -> dict[str, list[Outcome]]:
    """The outcomes of each entity; `known` are last seen revisions to begin with."""
    states = {entity: EntityState(last=last) for entity, last in (known or {}).items()}
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for batch in [*batches, Batch((), FAR_MS)]:
        for entity in ENTITIES:
            rows = [event for event in batch.events if event.entity == entity]
            accepted = accept(states.get(entity, EntityState()), rows, batch.watermark_ms, rules)
            released = release(accepted.state, batch.watermark_ms, rules)
            states[entity] = released.state
            outcomes[entity] += accepted.outcomes + released.outcomes
    assert all(state.buffered == () for state in states.values())
    return outcomes


def written(outcomes: Sequence[Outcome]) -> list[bytes]:
    """The bytes of the records."""
    return [
        outcome.value() if isinstance(outcome, Operation) else side_record(outcome, topic="side", emitter="job").value
        for outcome in outcomes
    ]


def one_by_one(events: Iterable[SourceEvent]) -> list[Batch]:
    """Without delay."""
    return [Batch((event,), event.time_ms) for event in events]


@given(arriving=arriving_lives())
def test_any_order_inside_the_window_gives_the_same_records(arriving: tuple[dict[str, Life], list[Batch]]) -> None:
    made, batches = arriving
    outcomes = run(batches, IN_ORDER)
    for entity, life in made.items():
        assert written(outcomes[entity]) == written(run(one_by_one(life.events), IN_ORDER)[entity])


@given(arriving=arriving_lives(), continue_at_once=st.booleans(), data=st.data())
def test_the_store_ends_in_the_state_of_the_wiki(
    arriving: tuple[dict[str, Life], list[Batch]], data: st.DataObject, *, continue_at_once: bool
) -> None:
    """Also where it begins with a dump: each entity at a revision it has in its life, and all of its events again."""
    made, batches = arriving
    store = {
        entity: rev
        for entity, life in made.items()
        if (rev := data.draw(st.none() | st.sampled_from([event.rev for event in life.events]))) is not None
    }
    outcomes = run(batches, ReorderRules(WINDOW, continue_at_once), known=dict(store))
    for entity in ENTITIES:
        apply_to_store(store, outcomes[entity])
        assert not any(isinstance(outcome, LapsedAction) for outcome in outcomes[entity])
    assert store == {entity: life.revision for entity, life in made.items() if life.revision is not None}


@given(arriving=arriving_lives())
def test_passing_at_once_saves_operations(arriving: tuple[dict[str, Life], list[Batch]]) -> None:
    _, batches = arriving

    def count(rules: ReorderRules) -> int:
        return sum(isinstance(outcome, Operation) for made in run(batches, rules).values() for outcome in made)

    assert count(AT_ONCE) <= count(IN_ORDER)


@given(arriving=arriving_lives(), continue_at_once=st.booleans(), data=st.data())
def test_a_replay_writes_the_same_bytes(
    arriving: tuple[dict[str, Life], list[Batch]], data: st.DataObject, *, continue_at_once: bool
) -> None:
    """The same batches with the same watermarks, whatever the order of the rows in them."""
    _, batches = arriving
    rules = ReorderRules(WINDOW, continue_at_once)
    again = [replace(batch, events=tuple(data.draw(st.permutations(batch.events)))) for batch in batches]
    first, second = run(batches, rules), run(again, rules)
    for entity in ENTITIES:
        assert written(first[entity]) == written(second[entity])
        operations = [outcome for outcome in first[entity] if isinstance(outcome, Operation)]
        assert [operation.seq for operation in operations] == list(range(1, len(operations) + 1))
        assert [parse_operation(operation.value()) for operation in operations] == operations
        assert len({operation.id for operation in operations}) == len(operations)


def edit(entity: str, rev: int, parent: int | None, time: int) -> SourceEvent:
    return source_event("revision-create", rev, time, entity=entity, parent=parent)


def repeat(event: SourceEvent) -> SourceEvent:
    return replace(event, position=replace(event.position, topic=f"codfw.{event.position.topic}", offset=99))


UNDELETED = [edit("Q1", 1, None, 0), source_event("page-delete", 1, 1), source_event("page-undelete", 1, 2)]
SHORT_LIVES = {
    "an edit right behind an undeletion": ([*UNDELETED, edit("Q1", 2, 1, 3)], {"Q1": 2}),
    "deleted twice at one revision": (
        [*UNDELETED, source_event("page-delete", 1, 3), source_event("page-undelete", 1, 4)],
        {"Q1": 1},
    ),
    "events of both data centres": ([*UNDELETED[:2], *map(repeat, UNDELETED[:2]), edit("Q2", 7, 6, 4)], {"Q2": 7}),
    # One edit takes what Q1 had to Q2, the next makes a redirect of Q1.
    "a merge": (
        [edit("Q1", 1, None, 0), edit("Q2", 2, None, 1), edit("Q2", 3, 2, 2), edit("Q1", 4, 1, 2)],
        {"Q1": 4, "Q2": 3},
    ),
}


@pytest.mark.parametrize("rules", [IN_ORDER, AT_ONCE], ids=["in order", "at once"])
@pytest.mark.parametrize(("events", "expected"), SHORT_LIVES.values(), ids=SHORT_LIVES)
def test_every_order_of_a_short_life(events: list[SourceEvent], expected: dict[str, int], rules: ReorderRules) -> None:
    for known in ({}, {"Q1": 1}):
        for order in permutations(events):
            store: dict[str, int] = dict(known)
            for made in run([Batch((event,), START_MS) for event in order], rules, known).values():
                apply_to_store(store, made)
            assert store == expected
