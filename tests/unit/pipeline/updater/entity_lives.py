"""Lives of entities as a wiki can have them, and orders in which their events can arrive."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from pipeline.records.record import Position
from pipeline.updater.source_event import ACTIONS, Action, SourceEvent
from tests.unit.pipeline.updater.source_events import START_MS, TOPICS, source_event

ENTITIES = ("Q1", "Q2")
WINDOW = 10


@dataclass(frozen=True)
class Life:
    """The events of an entity in their order, repeats among them, and the revision it has at the end; None deleted."""

    events: tuple[SourceEvent, ...]
    revision: int | None


@dataclass(frozen=True)
class Batch:
    """Events that arrive together, and the watermark with which they do."""

    events: tuple[SourceEvent, ...]
    watermark_ms: int


@st.composite
def lives(draw: st.DrawFn, entity: str, first_rev: int) -> Life:
    """Edits, one of which may make a redirect of it; deletions and suppressions, and undeletions behind them. Events
    stand in the topics of two data centres, and any may stand there again.
    """
    events: list[SourceEvent] = []
    rev, parent, exists, time, before = first_rev, None, True, 0, (0, 0, 0)
    for is_edit in [True, *draw(st.lists(st.booleans(), max_size=9))]:
        action: Action = "page-undelete" if not exists else "revision-create" if is_edit else "page-delete"
        exists = action != "page-delete"
        if action == "revision-create" and events:
            parent, rev = rev, rev + draw(st.integers(1, 3))
        time += draw(st.integers(0, 6))
        if (rev, time, ACTIONS.index(action)) <= before:
            time += 1  # two changes of one kind, or in this order, take a clock's tick
        before = (rev, time, ACTIONS.index(action))
        event = source_event(action, rev, time, entity=entity, position=draw(positions(action)))
        events.append(replace(event, parent=parent) if action == "revision-create" else event)
        if draw(st.integers(0, 4)) == 0:
            events.append(replace(events[-1], position=draw(positions(action))))
    return Life(tuple(events), rev if exists else None)


@st.composite
def positions(draw: st.DrawFn, action: Action) -> Position:
    """Somewhere in a topic of one of the data centres; a suppression has a topic of its own."""
    name = draw(st.sampled_from([TOPICS[action], "mediawiki.page-suppress"])) if "delete" in action else TOPICS[action]
    return Position(f"{draw(st.sampled_from(['eqiad', 'codfw']))}.{name}", 0, draw(st.integers(0, 10**6)))


@st.composite
def arrivals(draw: st.DrawFn, events: Sequence[SourceEvent]) -> list[Batch]:
    """The events in batches, each late by its own delay. The watermark does not pass the deadline of an event that is
    still to come.
    """
    delayed = sorted((event.time_ms + draw(st.integers(0, 40)), index) for index, event in enumerate(events))
    order = [events[index] for _, index in delayed]
    batches: list[Batch] = []
    watermark = START_MS - 1
    while order:
        size = draw(st.integers(1, 4))
        rows, order = order[:size], order[size:]
        latest = min(
            min(event.time_ms + WINDOW for event in rows),
            min((event.time_ms + WINDOW - 1 for event in order), default=10**15),
        )
        watermark = draw(st.integers(watermark, latest))
        batches.append(Batch(tuple(draw(st.permutations(rows))), watermark))
    return batches
