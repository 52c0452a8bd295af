"""What a task tells its driver: small facts through one of Spark's accumulators.

The payloads go to Kafka; the driver needs to know only which entries are resolved and which were written again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.deferral.entry import Entry
from pipeline.deferral.wire import TOO_LARGE
from pipeline.fetch.breaker import Opened
from pipeline.records.record import Position


@dataclass(frozen=True, slots=True)
class Resolved:
    """The event has left, or leaves nothing. `gave_up`: as an error event, since its last try met this."""

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


Fact = Resolved | Rewritten | Opened


class FactsParam:
    """Adds lists; a driver looks at them when the action has returned. What Spark calls an AccumulatorParam.

    Not derived from Spark's: this module is imported while another thread imports PySpark itself.
    """

    def zero(self, value: list[Fact]) -> list[Fact]:  # noqa: ARG002 — the interface is Spark's
        return []

    def addInPlace(self, value1: list[Fact], value2: list[Fact]) -> list[Fact]:  # noqa: N802
        value1 += value2  # a copy for each fact would grow with the square of a round
        return value1


def entries_after(entries: Sequence[Entry], facts: Iterable[Fact]) -> tuple[list[Position], list[Entry]]:
    """Positions that are resolved, and entries as they were written again; what no fact names stands as it was."""
    before = {entry.position: entry for entry in entries}
    resolved: list[Position] = []
    rewritten: list[Entry] = []
    for fact in facts:
        if isinstance(fact, Opened):
            continue
        if isinstance(fact, Resolved):
            resolved.append(fact.position)
            continue
        again = replace(
            before[fact.position],
            kind="stuck",
            attempt=fact.attempt,
            not_before_ms=fact.not_before_ms,
            reason=fact.reason,
        )
        rewritten.append(replace(again, value=None, dropped=True, reason=TOO_LARGE) if fact.given_up else again)
    return resolved, rewritten
