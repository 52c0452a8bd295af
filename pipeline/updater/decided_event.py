"""A source event and what came of it, as the operator hands them to the job, between the two in Spark's rows.

As JSON, whose `meta.id` is that of the event: what reads the id of a message finds it there.

    {"meta": {"id": "…"}, "event": […],
     "outcomes": [{"entity": "Q42", "op": "diff", …}, ["unmatched_delete", 7], "late"]}
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import orjson

from pipeline.rdf.operation import Operation, parse_operation
from pipeline.records.record import Position
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, StateInconsistency
from pipeline.updater.source_event import SourceEvent

_LATE = "late"


@dataclass(frozen=True, slots=True)
class DecidedEvent:
    """`outcomes` are those of this event, in order. None of them, and no `event`: it is of no entity."""

    event: SourceEvent | None
    outcomes: tuple[Outcome, ...] = ()

    @property
    def domain(self) -> str | None:
        """That of the wiki; canaries are of no entity."""
        return None if self.event is None else self.event.domain

    def to_bytes(self) -> bytes:
        """As it goes from the operator to the job."""
        event = self.event
        return orjson.dumps(
            {
                "meta": {} if event is None or event.event_id is None else {"id": event.event_id},
                "event": None if event is None else orjson.Fragment(event.to_bytes()),
                "outcomes": [_written(outcome) for outcome in self.outcomes],
            }
        )

    @classmethod
    def from_bytes(cls, written: bytes) -> "DecidedEvent":
        """What `to_bytes` wrote, of an event of an entity."""
        document = orjson.loads(written)
        event = SourceEvent.from_bytes(orjson.dumps(document["event"]))
        return cls(event, tuple(_read(outcome, event) for outcome in document["outcomes"]))


def decided_events(outcomes: Iterable[Outcome], events: Mapping[Position, SourceEvent]) -> Iterator[DecidedEvent]:
    """The outcomes by the events that they are of, which follow one another; `events` are by their positions."""
    for position, group in groupby(outcomes, _position):
        yield DecidedEvent(events[position], tuple(group))


def _position(outcome: Outcome) -> Position:
    return outcome.sources[0] if isinstance(outcome, Operation) else outcome.event.position


def _written(outcome: Outcome) -> object:
    if isinstance(outcome, Operation):
        return orjson.Fragment(outcome.value())
    return [outcome.inconsistency, outcome.last] if isinstance(outcome, StateInconsistency) else _LATE


def _read(written: object, event: SourceEvent) -> Outcome:
    if written == _LATE:
        return LapsedAction(event)
    if isinstance(written, list):
        return StateInconsistency(event, *written)
    return parse_operation(orjson.dumps(written))
