"""What a slow round's task tells its driver: which entries are resolved, and which are to be tried again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.deferral.entry import Entry
from pipeline.records.record import Position


@dataclass(frozen=True, slots=True)
class Resolved:
    """The event is emitted, or emits nothing. `gave_up`: as an error event, since its last try met this."""

    position: Position
    gave_up: str = ""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The entry is to be written again, of the wiki that was asked. The driver does: a task that Spark gave up on could
    do it too late.
    """

    position: Position
    attempt: int
    not_before_ms: int
    reason: str
    wiki_id: str | None = None


Fact = Resolved | Rewritten


def entries_after(entries: Sequence[Entry], facts: Iterable[Fact]) -> tuple[list[Position], list[Entry]]:
    """Positions that are resolved, and entries as they are to be written again; what no fact names stands as it was."""
    before = {entry.position: entry for entry in entries}
    resolved: list[Position] = []
    rewritten: list[Entry] = []
    for fact in facts:
        if isinstance(fact, Resolved):
            resolved.append(fact.position)
            continue
        rewritten.append(
            replace(
                before[fact.position],
                kind="stuck",
                attempt=fact.attempt,
                not_before_ms=fact.not_before_ms,
                reason=fact.reason,
                cause=None,
                wiki_id=fact.wiki_id,
            )
        )
    return resolved, rewritten
