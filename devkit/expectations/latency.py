"""End-to-end latency: from an event's append to the source to the append of its first output or error event.

Events that are not emitted count as later than all others: an arm does not look fast by emitting little. `healthy`
leaves out events of pages that a page-selecting rule matched (`page`, `revision`, `entity`, `share`).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Time
from devkit.expectations.event_selection import EventSelection, select_latencies, why_unknown
from devkit.expectations.timing import bound_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.latency import Latencies, Percentile
from devkit.observe.observable import Observable
from located_config.count import counted


class Latency(Time):
    """Bounds on a percentile, and of which events."""

    percentile: Annotated[float, Field(gt=0, le=100)] = Field(
        description="Percentile of the events' latencies, above 0 to 100."
    )
    of: EventSelection = "all"


_SELECTED = {"all": "all events", "healthy": "events of healthy pages"}


@dataclass(frozen=True, kw_only=True)
class _Latency(ExpectationKind):
    name: str = "latency"
    summary: str = (
        "End-to-end latency of the events, from the append to the source to the append of their first output or "
        "error event, as a `percentile`. `of: healthy` excludes pages that matched a rule which selects pages. "
        "Events that were not emitted count as later than all emitted ones."
    )
    example: str = "{percentile: 50, at_most: 5s}"
    argument: Any = Latency
    needs: frozenset[Observable] = frozenset({"sources"})

    def judge(self, argument: Latency, observation: ArmObservation) -> Finding:
        expected = f"p{argument.percentile:g} {argument} ({_SELECTED[argument.of]})"
        if why := why_unknown(argument.of, observation):
            return Finding(self.name, expected, why, holds=None)
        events = select_latencies(argument.of, observation)
        percentile = events.percentile(argument.percentile) if events else None
        if events is None or percentile is None:
            missing = (
                "no event had to be emitted" if events else "which pages a rule matched is not known: too many requests"
            )
            return Finding(self.name, expected, missing, holds=False)
        at_least = timedelta(seconds=percentile.at_least_s)
        at_most = None if percentile.at_most_s is None else timedelta(seconds=percentile.at_most_s)
        holds = argument.admits_between(at_least, at_most)
        figures = (argument.bounded(at_least if at_most is None else at_most),)
        return Finding(self.name, expected, _measured(percentile, events), holds, figures=figures)

    def figure(self, argument: Latency, observation: ArmObservation) -> float | None:
        """In seconds; None if too many events still wait."""
        events = select_latencies(argument.of, observation)
        percentile = events.percentile(argument.percentile) if events else None
        return percentile.at_most_s if percentile else None

    def depends_on_time(self, argument: Latency, observation: ArmObservation) -> Window | None:
        return bound_window(argument, observation)


def _measured(percentile: Percentile, events: Latencies) -> str:
    count = counted(len(events.events), "event")
    if percentile.at_most_s is None:
        return f"at least {percentile.at_least_s:.1f}s: {events.waiting:,} of {count} are not emitted"
    waiting = f", {events.waiting:,} of which are not emitted" if events.waiting else ""
    return f"{percentile.at_most_s:.1f}s over {count}{waiting}"


LATENCY = _Latency()
