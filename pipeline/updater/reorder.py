"""The events of an entity in order, from several topics that are each late in their own way.

    deadline = time of the event + window
    watermark > deadline at arrival    the event is late: a LapsedAction, and nothing else
    watermark > deadline               the event leaves the buffer, with all that are before it in order

The order is by revision and then by time: a revision comes before its deletion, and both may have the time of another
topic's clock. Reconciliations are no part of an entity's history and are never buffered.

With `continue_at_once` a revision passes without a wait where nothing is buffered and its parent is the last seen one,
and in any case where it is not newer than that, as in Wikimedia's updater. An event of an earlier revision that comes
behind it is then left out as `newer_revision_seen`: the entity ends in the same state, by fewer operations. Without it
each event waits for the whole window, and any order of arrival inside it gives the same outcomes.

All times are milliseconds since 1970.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter

from pipeline.rdf.operation import Operation
from pipeline.records.error_event import rfc3339
from pipeline.updater.side_output import LapsedAction, StateInconsistency
from pipeline.updater.source_event import SourceEvent, moment
from pipeline.updater.transitions import decide

Outcome = Operation | LapsedAction | StateInconsistency
_by_order = attrgetter("order")


@dataclass(frozen=True, slots=True)
class ReorderRules:
    """A `window_ms` of 0 buffers nothing: each event is decided as it arrives, or behind those that waited before the
    window was shortened to 0.
    """

    window_ms: int
    continue_at_once: bool = True


@dataclass(frozen=True, slots=True)
class EntityState:
    """What is kept of an entity: the last seen revision as `decide` has it, the number of its operations, and events
    that wait, in order.
    """

    last: int = 0
    seq: int = 0
    buffered: tuple[SourceEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A state and what came of getting there, in order."""

    state: EntityState
    outcomes: tuple[Outcome, ...]


def accept(state: EntityState, events: Iterable[SourceEvent], watermark_ms: int, rules: ReorderRules) -> Step:
    """Takes in the events of one entity that arrive together; in which order they are given does not matter."""
    outcomes: list[Outcome] = []
    buffered = list(state.buffered)
    for event in sorted(events, key=_by_order):
        if _is_over(event, watermark_ms, rules):
            outcomes.append(LapsedAction(event))
        elif _waits(event, state.last, rules, is_first=not buffered):
            buffered.append(event)
        else:
            state = _decided(state, event, outcomes)
    return Step(replace(state, buffered=tuple(sorted(buffered, key=_by_order))), tuple(outcomes))


def release(state: EntityState, watermark_ms: int, rules: ReorderRules) -> Step:
    """Lets the events go whose time is over, and those that are before them in order."""
    due = [place for place, event in enumerate(state.buffered, 1) if _is_over(event, watermark_ms, rules)]
    count = due[-1] if due else 0
    leaving = state.buffered[:count]
    state = replace(state, buffered=state.buffered[count:])
    outcomes: list[Outcome] = []
    for event in leaving:
        state = _decided(state, event, outcomes)
    return Step(state, tuple(outcomes))


def next_release_ms(state: EntityState, rules: ReorderRules) -> int | None:
    """The watermark at which `release` has something to do next; None with nothing buffered."""
    return min((event.time_ms + rules.window_ms + 1 for event in state.buffered), default=None)


def _is_over(event: SourceEvent, watermark_ms: int, rules: ReorderRules) -> bool:
    """Whether the event's window is. It leaves, and is late, by the same rule: else what leaves could still be preceded
    by what is in time.
    """
    return event.time_ms + rules.window_ms < watermark_ms


def _waits(event: SourceEvent, last: int, rules: ReorderRules, *, is_first: bool) -> bool:
    if event.action in ("reconcile-creation", "reconcile-deletion"):
        return False
    if rules.window_ms == 0:
        return not is_first
    if not rules.continue_at_once or event.action != "revision-create" or event.parent is None:
        return True
    # No event continues an entity that is deleted or unknown: its `last` is no revision that could be a parent.
    is_next = event.parent == last and is_first
    return event.rev > last and not is_next


def _decided(state: EntityState, event: SourceEvent, outcomes: list[Outcome]) -> EntityState:
    transition = decide(state.last, event.action, event.rev)
    if transition.inconsistency is not None:
        outcomes.append(StateInconsistency(event, transition.inconsistency, state.last))
    if transition.op is None:
        return state
    state = replace(state, last=transition.last, seq=state.seq + 1)
    dt = rfc3339(moment(event.time_ms))
    operation = Operation(
        event.entity, transition.op, transition.rev, transition.from_rev, dt, state.seq, (event.position,)
    )
    outcomes.append(operation)
    return state
