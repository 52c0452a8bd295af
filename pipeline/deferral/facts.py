"""What a slow round's task tells its driver: which entries are resolved, and which were written again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.deferral.entry import Entry
from pipeline.deferral.wire import TOO_LARGE
from pipeline.records.record import Position


@dataclass(frozen=True, slots=True)
class Resolved:
    """The event is emitted, or emits nothing. `gave_up`: as an error event, since its last try met this."""

    position: Position
    gave_up: str = ""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The entry was written again. `given_up`: without its value, as its record would have been too large."""

    position: Position
    attempt: int
    not_before_ms: int
    reason: str
    given_up: bool = False


Fact = Resolved | Rewritten


def entries_after(entries: Sequence[Entry], facts: Iterable[Fact]) -> tuple[list[Position], list[Entry]]:
    """Positions that are resolved, and entries as they were written again; what no fact names stands as it was."""
    before = {entry.position: entry for entry in entries}
    resolved: list[Position] = []
    rewritten: list[Entry] = []
    for fact in facts:
        if isinstance(fact, Resolved):
            resolved.append(fact.position)
            continue
        again = replace(
            before[fact.position],
            kind="stuck",
            attempt=fact.attempt,
            not_before_ms=fact.not_before_ms,
            reason=fact.reason,
            cause=None,
        )
        if fact.given_up:
            again = replace(again, value=None, dropped=True, reason=TOO_LARGE, cause="too_large")
        rewritten.append(again)
    return resolved, rewritten
