"""What the events of a Wikibase's entities come to, by the rules of the updater's source (wikidata-query-rdf), as data.

Events are taken in the order in which they happened: by revision and then by time. Nothing is late here, and nothing
waits. Times of all data centres are of one clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal

import orjson

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent

Kind = Literal["create", "delete", "undelete"]
Status = Literal["nothing", "created", "deleted"]
"""What is known of an entity."""
NEWER = "newer_revision_seen"
NOTHING_KNOWN: Mapping[str, int] = MappingProxyType({})
_OPS = ("import", "diff", "delete")
_KINDS: tuple[Kind, ...] = ("create", "delete", "undelete")
"""In the order in which they can happen to one revision at one time."""
# By what is known of the entity, and the event's revision beside that: what each kind of event is.
_RULES: dict[tuple[Status, str], tuple[str, str, str]] = {
    ("nothing", "newer"): ("import", NEWER, "import"),
    ("created", "older"): (NEWER, NEWER, NEWER),
    ("created", "same"): (NEWER, "delete", "unmatched_delete"),
    ("created", "newer"): ("diff", "delete", NEWER),
    ("deleted", "older"): (NEWER, NEWER, "unmatched_delete"),
    ("deleted", "same"): (NEWER, NEWER, "import"),
    ("deleted", "newer"): ("missed_undelete", NEWER, "unmatched_delete"),
}


@dataclass(frozen=True)
class EntityEvent:
    """What an event says. `parent` is 0 for the first revision, and for what makes no revision."""

    entity: str
    kind: Kind
    rev: int
    parent: int
    time: datetime
    position: Position

    @classmethod
    def of(cls, event: SourceEvent) -> "EntityEvent":
        """Of an event that its generator states to be of an entity."""
        document = orjson.loads(event.value)
        kind = next(kind for kind in _KINDS if document["$schema"].split("/")[3] == kind)
        entity, time = document["page_title"].split(":")[-1], datetime.fromisoformat(document["meta"]["dt"])
        return cls(entity, kind, document["rev_id"], document.get("rev_parent_id", 0), time, event.position)


@dataclass(frozen=True)
class Decision:
    """What becomes of an event: `outcome` is an operation (`import`, `diff`, `delete`) or the name of an inconsistency.
    `may_be_newer`: it is so where all of it waits for its time. A revision that may pass without a wait can overtake
    it, and then it is `newer_revision_seen`; that revision's operation is the same.
    """

    outcome: str
    from_rev: int | None = None
    may_be_newer: bool = False

    @property
    def is_operation(self) -> bool:
        """Else it is left out."""
        return self.outcome in _OPS


@dataclass(frozen=True)
class History:
    """Decisions by the events' positions, and the last revision of each entity; None of one that is not there."""

    decisions: dict[Position, Decision]
    revisions: dict[str, int | None]


def history(events: Iterable[EntityEvent], known_before: Mapping[str, int] = NOTHING_KNOWN) -> History:
    """Of all events, in whatever order they are given. `known_before` has the revision of each entity that the program
    knows before the first of them.
    """
    decisions: dict[Position, Decision] = {}
    states: dict[str, tuple[Status, int]] = {entity: ("created", rev) for entity, rev in known_before.items()}
    known = [*events]
    parents = {(event.entity, event.parent) for event in known if event.kind == "create"}
    for event in sorted(known, key=_order):
        status, rev = states.get(event.entity, ("nothing", 0))
        outcome = outcome_of(event.kind, event.rev, status, rev)
        overtaken = event.kind != "create" and (event.entity, event.rev) in parents
        decisions[event.position] = Decision(outcome, rev if outcome == "diff" else None, overtaken)
        if outcome in _OPS:
            states[event.entity] = "deleted" if outcome == "delete" else "created", event.rev
    ends = {event.entity: states.get(event.entity, ("nothing", 0)) for event in known}
    return History(decisions, {entity: rev if end == "created" else None for entity, (end, rev) in ends.items()})


def outcome_of(kind: Kind, rev: int, status: Status, last: int) -> str:
    """What an event at revision `rev` is, where `last` is the last known one of its entity; see `Decision`."""
    beside = "same" if rev == last else "newer" if rev > last else "older"
    return _RULES[status, beside][_KINDS.index(kind)]


def _order(event: EntityEvent) -> tuple[int, datetime, int, Position]:
    return event.rev, event.time, _KINDS.index(event.kind), event.position
