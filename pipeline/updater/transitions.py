"""What an event means for its entity, by the last revision that was seen of it.

    last = 0            nothing was seen of the entity
    last > 0, created   it exists, and `last` is its revision
    last < 0, deleted   it was deleted at the revision -last

The rules are those of Wikimedia's updater (wikidata-query-rdf, `MutationResolver`), inconsistencies by its names.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline.rdf.operation import Op
from pipeline.updater.source_event import Action

Inconsistency = Literal[
    "newer_revision_seen",
    "missed_undelete",
    "unmatched_delete",
    "reconcile_ambiguous_creation",
    "reconcile_ambiguous_deletion",
]


@dataclass(frozen=True, slots=True)
class Transition:
    """`last` is the state afterwards. `op` is None where the event is left out, else `rev` is the operation's revision.
    `inconsistency` says why it is left out, or what is doubtful about the operation.
    """

    last: int
    op: Op | None = None
    rev: int = 0
    from_rev: int | None = None
    inconsistency: Inconsistency | None = None


def decide(last: int, action: Action, rev: int) -> Transition:
    """What an event at revision `rev` does to an entity whose last seen revision is `last`."""
    match action:
        case "revision-create":
            return _after_revision(last, rev)
        case "page-delete":
            if 0 < last <= rev:
                return Transition(-rev, "delete", rev)
            return Transition(last, inconsistency="newer_revision_seen")
        case "page-undelete":
            if last in (0, -rev):
                return Transition(rev, "import", rev)
            is_unmatched = last < 0 or last == rev
            return Transition(last, inconsistency="unmatched_delete" if is_unmatched else "newer_revision_seen")
        case "reconcile-creation" | "reconcile-deletion":
            return _reconciled(last, action, rev)


def _after_revision(last: int, rev: int) -> Transition:
    if last == 0:
        return Transition(rev, "import", rev)
    if abs(last) >= rev:
        return Transition(last, inconsistency="newer_revision_seen")
    if last < 0:
        return Transition(last, inconsistency="missed_undelete")
    return Transition(rev, "diff", rev, last)


def _reconciled(last: int, action: Action, rev: int) -> Transition:
    """The newer of state and event holds; at one revision the event does."""
    if rev == 0:
        # A deletion that must be made whatever is known. The state is as that of an entity never seen; the operation
        # has to name a revision, which is 1 where there is none to name.
        return Transition(0, "delete", abs(last) or 1)
    wanted = rev if action == "reconcile-creation" else -rev
    if last == -wanted:
        doubt: Inconsistency = "reconcile_ambiguous_creation" if wanted > 0 else "reconcile_ambiguous_deletion"
        return Transition(wanted, "reconcile" if wanted > 0 else "delete", rev, inconsistency=doubt)
    newer = last if abs(last) > rev else wanted
    return Transition(newer, "reconcile" if newer > 0 else "delete", abs(newer))
