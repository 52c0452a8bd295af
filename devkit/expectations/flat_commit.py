"""The longest time without a commit while events waited, and the CPU used meanwhile.

The time counts from the first query of an arm and includes restarts, as an operator sees it. A restart costs CPU, so
the CPU is the median over the samples in which a query ran.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from devkit.expectations.base import ExpectationKind, Finding, Measure
from devkit.expectations.bounds import DurationBound, NumberBound, Range
from devkit.expectations.timing import bound_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.figures import FlatCommit
from devkit.observe.observable import Observable


@dataclass(frozen=True, kw_only=True)
class _FlatCommit(ExpectationKind):
    """If it was not observable for a while, the time is known between two bounds only."""

    name: str = "flat_commit"
    summary: str = (
        "Longest time in which the committed offset did not change while events waited for a commit, restarts "
        "included. If a fault prevented observation, and the bound lies between the observed time and the longest "
        "possible one, it is undecided."
    )
    example: str = "{at_least: 15s}"
    argument: Any = DurationBound
    needs: frozenset[Observable] = frozenset({"offsets"})

    def judge(self, argument: Range[Any], observation: ArmObservation) -> Finding:
        flat = observation.figures.flat_commit
        if flat is None:
            none = timedelta(0)
            return Finding(self.name, str(argument), "0s", argument.admits(none), figures=(argument.bounded(none),))
        at_least = timedelta(seconds=flat.duration_s)
        at_most = at_least if flat.at_most_s is None else timedelta(seconds=flat.at_most_s)
        holds: bool | None = argument.admits_between(at_least, at_most)
        if not holds and _may_hold(argument, at_least, at_most):
            holds = None
        return Finding(self.name, str(argument), _format(flat), holds, figures=(argument.bounded(at_least),))

    def figure(self, argument: Range[Any], observation: ArmObservation) -> float | None:  # noqa: ARG002
        """In seconds."""
        flat = observation.figures.flat_commit
        return flat.duration_s if flat else 0.0

    def depends_on_time(self, argument: Range[Any], observation: ArmObservation) -> Window | None:
        return bound_window(argument, observation)


def _may_hold(argument: Range[Any], at_least: timedelta, at_most: timedelta) -> bool:
    """Whether some time between the two is admitted."""
    return (argument.at_least is None or at_most >= argument.at_least) and (
        argument.at_most is None or at_least <= argument.at_most
    )


def _format(flat: FlatCommit) -> str:
    cores = "" if flat.median_cpu_cores is None else f", {flat.median_cpu_cores:.2f} CPU cores used meanwhile"
    text = f"{flat.duration_s:.1f}s at {flat.committed} of {flat.source_end}{cores}"
    if flat.at_most_s is None:
        return text
    return f"{text}; it may have been {flat.at_most_s:.1f}s, as it was not observable while a part stood still"


def _cores(observation: ArmObservation) -> float | None:
    flat = observation.figures.flat_commit
    return flat.median_cpu_cores if flat else None


def _format_cores(value: float, observation: ArmObservation) -> str:
    flat = observation.figures.flat_commit
    assert flat is not None
    return f"{value:.2f} (median; {flat.mean_cpu_cores:.2f} on average) in {flat.duration_s:.1f}s without a commit"


def _flat_window(_argument: Range[Any], observation: ArmObservation) -> Window | None:
    """A pipeline that gets no core idles as well."""
    flat = observation.figures.flat_commit
    return timedelta(seconds=flat.duration_s) if flat else "arm"


_NEEDS: frozenset[Observable] = frozenset({"offsets"})
FLAT_COMMIT = _FlatCommit()
IDLE_CPU = Measure(
    name="idle_cpu",
    value=_cores,
    argument=NumberBound,
    absent="no query ran while the committed offset stood still",
    format_value=_format_cores,
    timing=_flat_window,
    needs=_NEEDS,
    summary="CPU cores (median) that the program used during the longest time without a commit, while its query ran.",
    example="{at_most: 0.5}",
)
