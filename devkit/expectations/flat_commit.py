"""How long the committed offset stood still while there was something to commit, and whether the CPU idled meanwhile.

The time counts from the first query of an arm, and goes on over restarts: that is what the operator saw. Starting
again costs CPU, so the idling is that of the middle sample (median) among those in which a query ran.
"""

from datetime import timedelta
from typing import Any

from devkit.expectations.base import Measure
from devkit.expectations.bounds import DurationBound, NumberBound, Range
from devkit.expectations.timing import of_bound
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation
from devkit.observe.sight import Sight


def _duration(observation: ArmObservation) -> timedelta:
    flat = observation.figures.flat_commit
    return timedelta(seconds=flat.duration_s if flat else 0)


def _tell_duration(value: timedelta, observation: ArmObservation) -> str:
    flat = observation.figures.flat_commit
    if flat is None:
        return "0 s"
    cores = "" if flat.median_cpu_cores is None else f", {flat.median_cpu_cores:.2f} CPU cores used meanwhile"
    return f"{value.total_seconds():.1f} s at {flat.committed} of {flat.source_end}{cores}"


def _cores(observation: ArmObservation) -> float | None:
    flat = observation.figures.flat_commit
    return flat.median_cpu_cores if flat else None


def _tell_cores(value: float, observation: ArmObservation) -> str:
    flat = observation.figures.flat_commit
    assert flat is not None
    return f"{value:.2f} (median; {flat.mean_cpu_cores:.2f} on average) in {flat.duration_s:.1f} s without a commit"


def _while_flat(_argument: Range[Any], observation: ArmObservation) -> Window | None:
    """A pipeline that gets no core idles as well."""
    flat = observation.figures.flat_commit
    return timedelta(seconds=flat.duration_s) if flat else "arm"


_NEEDS: frozenset[Sight] = frozenset({"offsets"})
FLAT_COMMIT = Measure(
    "flat_commit", _duration, argument=DurationBound, tell=_tell_duration, timing=of_bound, needs=_NEEDS
)
IDLE_CPU = Measure(
    "idle_cpu",
    _cores,
    argument=NumberBound,
    absent="no query ran while the committed offset stood still",
    tell=_tell_cores,
    timing=_while_flat,
    needs=_NEEDS,
)
