"""What a kind of expectation is: a name, the type of its argument, what it needs to have been seen, and a function from
what was observed to a finding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar, cast

from devkit.expectations.bounds import Bound, Range
from devkit.expectations.timing import Timing, timeless
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.observable import Observable

T = TypeVar("T")
NOTHING: frozenset[Observable] = frozenset()


def gone(needs: frozenset[Observable], observation: ArmObservation) -> str:
    """What faults took away of the records that are needed; "" for nothing. An event whose record is gone would count
    as one that was never emitted.
    """
    return "; ".join(observation.hidden) if "sources" in needs else ""


@dataclass(frozen=True)
class Finding:
    """What was expected, what was measured, and whether the one matches the other; None where it cannot be judged.

    One that is `decisive` is excused by nothing, a machine that was short of time included. `figures` are what was
    held against a bound, for those who ask how near it came.
    """

    name: str
    expected: str
    measured: str
    holds: bool | None
    decisive: bool = False
    figures: tuple[BoundedFigure, ...] = ()


class ExpectationKind(Protocol):
    """What the registry has for one key of `expect`."""

    @property
    def name(self) -> str:
        """Its key in a scenario file. The registry refuses a name that it already has."""

    @property
    def argument(self) -> Any:
        """The type that its value in a scenario file must fit: a pydantic model or an annotated type."""

    @property
    def summary(self) -> str:
        """A sentence or two for the reference: what is measured, or what holds."""

    @property
    def example(self) -> str:
        """A value in YAML, without the key."""

    @property
    def needs(self) -> frozenset[Observable]:
        """Where one of these was not observable the finding is undecided, whatever `judge` returns. Empty where less
        may be enough: then `judge` decides.
        """

    def judge(self, argument: Any, observation: ArmObservation) -> Finding:
        """Looks at these two alone, so that a recorded observation gives the same finding again."""

    def depends_on_time(self, argument: Any, observation: ArmObservation) -> Window | None:
        """The time whose shortage would make the finding say nothing; None where time has no part in it."""


def _plainly(value: object, _observation: ArmObservation) -> str:
    return f"{value}"


@dataclass(frozen=True)
class Measure(Generic[T]):
    """One figure. Where `of` gives None there was nothing to measure, so no bound holds; `absent` says why. Or nothing
    is known then, and no bound is broken either: `unknown` says why.

    `argument` is a bound on what `of` gives, and `tell` says it with what a reader needs beside it. `timing` says
    whether it depends on time.
    """

    name: str
    of: Callable[[ArmObservation], T | None]
    argument: Any = Bound
    absent: str = "nothing to count"
    unknown: str = ""
    tell: Callable[[T, ArmObservation], str] = _plainly
    timing: Timing = timeless
    needs: frozenset[Observable] = NOTHING
    summary: str = ""
    example: str = ""

    def judge(self, argument: Range[Any], observation: ArmObservation) -> Finding:
        """Undecided where nothing is known, and only there."""
        value = self.of(observation)
        if value is None and self.unknown:
            return Finding(self.name, str(argument), f"n/a: {self.unknown}", holds=None)
        if value is None:
            return Finding(self.name, str(argument), self.absent, holds=False)
        figures = (argument.bounded(value),)
        return Finding(self.name, str(argument), self.tell(value, observation), argument.admits(value), figures=figures)

    def figure(self, argument: Range[Any], observation: ArmObservation) -> float | None:  # noqa: ARG002
        """A duration in seconds; None where `of` gives None."""
        value = self.of(observation)
        if isinstance(value, timedelta):
            return value.total_seconds()
        return value if value is None else float(cast("float", value))

    def depends_on_time(self, argument: Range[Any], observation: ArmObservation) -> Window | None:
        """By `timing`; by default a finding does not depend on time."""
        return self.timing(argument, observation)
