"""Events emitted each second, from the first publication to the last emission.

If events still wait at the arm's end, the time counts up to there: an arm does not look fast by emitting little.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Range
from devkit.expectations.event_selection import EventSelection, select_latencies, why_unknown
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.latency import Latencies
from devkit.observe.observable import Observable
from located_config.count import counted
from located_config.rate import Rate, format_rate


class RateBound(Range[Rate]):
    """Bounds on the rate, and of which events."""

    value: ClassVar[str] = "rate"
    unit: ClassVar[str] = "/s"

    of: EventSelection = "all"

    @classmethod
    def show(cls, value: float) -> str:
        """In the smallest unit without a fraction: `20/s`."""
        return format_rate(value)

    def __str__(self) -> str:
        return super().__str__() + ("" if self.of == "all" else " (events of healthy pages)")


@dataclass(frozen=True, kw_only=True)
class _Rate(ExpectationKind):
    name: str = "rate"
    summary: str = (
        "Events emitted each second as output or error event, from the first publication to the last emission, or "
        "to the arm's end if events still wait. `of: healthy` excludes pages that matched a rule which selects "
        "pages."
    )
    example: str = "{of: healthy, at_least: 20/s}"
    argument: Any = RateBound
    needs: frozenset[Observable] = frozenset({"sources"})

    def judge(self, argument: RateBound, observation: ArmObservation) -> Finding:
        if why := why_unknown(argument.of, observation):
            return Finding(self.name, str(argument), why, holds=None)
        events = select_latencies(argument.of, observation)
        value = _rate(events)
        if events is None or value is None:
            return Finding(self.name, str(argument), "n/a: no event had to leave, or none is known", holds=None)
        waiting = f", {events.waiting:,} wait" if events.waiting else ""
        measured = f"{value:.1f}/s ({counted(events.emitted, 'event')}{waiting})"
        return Finding(self.name, str(argument), measured, argument.admits(value), figures=(argument.bounded(value),))

    def figure(self, argument: RateBound, observation: ArmObservation) -> float | None:
        """Events a second; None if there are none."""
        return _rate(select_latencies(argument.of, observation))

    def bounds_progress(self, argument: RateBound, arm: ArmName) -> bool:  # noqa: ARG002
        """With a lower bound."""
        return argument.at_least is not None

    def depends_on_time(self, argument: RateBound, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


def _rate(events: Latencies | None) -> float | None:
    if events is None or not events.events:
        return None
    began_s = min(event.published_ms for event in events.events) / 1000
    ended_s = max(event.published_ms / 1000 + event.seconds for event in events.events)
    return events.emitted / (ended_s - began_s) if ended_s > began_s else None


RATE = _Rate()
