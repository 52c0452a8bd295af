"""How far an arm came towards a condition that never held."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from devkit.faults.condition import (
    BatchCommitted,
    Condition,
    EventLogged,
    Figure,
    ProgramRunning,
    Reached,
    RequestSeen,
    RuleMet,
    Seen,
)


@dataclass(frozen=True)
class Extent:
    """The highest and the lowest that each figure was, and the last observation."""

    highest: Mapping[Figure, int] = field(default_factory=dict)
    lowest: Mapping[Figure, int] = field(default_factory=dict)
    last: Seen = field(default_factory=Seen)

    def grown(self, seen: Seen) -> "Extent":
        """The extent with this observation. A figure that it does not have keeps its highest and lowest."""
        figures = seen.figures.items()
        highest = {figure: max(value, self.highest.get(figure, value)) for figure, value in figures}
        lowest = {figure: min(value, self.lowest.get(figure, value)) for figure, value in figures}
        return replace(self, highest={**self.highest, **highest}, lowest={**self.lowest, **lowest}, last=seen)


def describe_shortfall(condition: Condition, extent: Extent, events: int) -> str:
    """How far the arm came instead; `events` is the number of events that are published."""
    match condition:
        case Reached():
            return _figure(condition, extent, events)
        case BatchCommitted():
            batches = extent.last.batches
            return f"the last batch committed was {max(batches)}" if batches else "no batch was committed"
        case ProgramRunning(program=program):
            return f"the query of {program} never ran" if program else "no query ever ran"
        case EventLogged():
            return "no program logged it"
        case RuleMet():
            return "no request met it"
        case RequestSeen(part=part):
            return f"no such request came to the {part} by the proxy"


def _figure(condition: Reached, extent: Extent, events: int) -> str:
    if condition.figure not in extent.highest:
        return f"{condition.figure} was not to be seen"
    threshold = f"{condition.count(events):g}"
    if condition.comparison.startswith("<"):
        return f"{condition.figure} was never less than {extent.lowest[condition.figure]}"
    more = "more than " if condition.comparison == ">" else ""
    return f"{condition.figure} came to {extent.highest[condition.figure]} of {more}{threshold}"
