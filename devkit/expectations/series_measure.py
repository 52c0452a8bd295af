"""Expectations on a time series: which number is made of it, and from which part of the arm.

of: slope           a minute's change, by the line through all points
during: broker cut  from the beginning of that fault of the timeline, or phase of the traffic, to its end
after: broker cut   from its end to the arm's end
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from devkit.expectations.base import ExpectationKind, Finding, has_no_flaws
from devkit.expectations.bounds import Time
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.timing import arm_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.time_series import FEWEST, Of, TimeSeries, between, figure
from located_config.count import counted
from located_config.near import near_miss


class PhaseArgument(BaseModel):
    """A part of the arm; by default all of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    during: str | None = Field(
        default=None,
        min_length=1,
        description="Name of a fault of the timeline or of a part of the traffic: looks at that part of the arm alone.",
    )
    after: str | None = Field(
        default=None, min_length=1, description="Like `during`: looks at the time from its end to the arm's end."
    )

    @model_validator(mode="after")
    def _check_part(self) -> Self:
        if self.during is not None and self.after is not None:
            raise ValueError("one of during and after, not both")
        return self

    @property
    def phase(self) -> str | None:
        """The name that says which part of the arm; None is all of it."""
        return self.during or self.after

    @property
    def in_words(self) -> str:
        """Behind what is expected; empty where it is all of the arm."""
        return f" during {self.during}" if self.during else f" after {self.after}" if self.after else ""

    def part_of(self, observation: ArmObservation) -> tuple[float, float] | str:
        """From when to when, in seconds from the arm's start; or why there is no such part."""
        if self.phase is None:
            return 0.0, math.inf
        if (phase := observation.phases.get(self.phase)) is None:
            return f"{self.phase!r} never began"
        if self.during:
            return phase.from_s, math.inf if phase.to_s is None else phase.to_s
        return f"{self.phase!r} had not ended by the arm's end" if phase.to_s is None else (phase.to_s, math.inf)


class SeriesArgument(PhaseArgument):
    """`of` is the number that is made of the course; its default is each expectation's own."""

    of: Of = Field(default="last", description="Number that is made of all looks; a slope is the change in a minute.")

    @property
    def number(self) -> str:
        """The number, and the part of the arm."""
        return ("slope a minute" if self.of == "slope" else self.of) + self.in_words

    def slower(self, by: int) -> Self:
        """In a run that is stretched a minute brings less, and all else is as much."""
        if self.of != "slope":
            return self
        bounds: dict[str, Any] = {name: getattr(self, name) for name in ("at_least", "at_most")}
        return self.model_copy(update={name: bound / by for name, bound in bounds.items() if bound is not None})


class DurationSeriesArgument(Time, SeriesArgument):
    """Bounds that are durations, of the run's clock or of event time: both are longer in a run that is stretched."""

    def __str__(self) -> str:
        return f"{self.number} {super().__str__()}"

    def slower(self, by: int) -> Self:
        """Bounds that are that many times as long."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        return self.model_copy(update={name: bound * by for name, bound in bounds.items() if bound is not None})


def _nothing_absent(_argument: Any, _observation: ArmObservation) -> str:
    return ""


def _is_no_progress(_argument: Any) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class SeriesMeasure(ExpectationKind):
    """A number of a time series: `series` gives the points, `format_value` shows the number.

    `absent` says why there is no series, "" if there is one. `point` is the word for a point, `points` its plural if
    that takes more than an `s`. `as_bound` converts the number to the type of the bounds. `flaws` checks what an
    argument has besides its part of the arm. `is_progress` says whether an arm that did too little breaks the
    expectation.
    """

    series: Callable[[Any, ArmObservation], TimeSeries]
    format_value: Callable[[float], str]
    timing: Callable[[Any, ArmObservation], Window | None] = arm_window
    absent: Callable[[Any, ArmObservation], str] = _nothing_absent
    flaws: Callable[[Any, CheckedArm], Iterable[Flaw]] = has_no_flaws
    is_progress: Callable[[Any], bool] = _is_no_progress
    point: str = "look"
    points: str | None = None
    as_bound: Callable[[float], Any] = float

    def judge(self, argument: Any, observation: ArmObservation) -> Finding:
        """Undecided without a number."""
        value, extent = self._measure(argument, observation)
        if value is None:
            return Finding(self.name, str(argument), extent, holds=None)
        measured = f"{self.format_value(value)} ({extent})"
        bound = self.as_bound(value)
        return Finding(self.name, str(argument), measured, argument.admits(bound), figures=(argument.bounded(bound),))

    def figure(self, argument: Any, observation: ArmObservation) -> float | None:
        """In the unit of the series; None where there was nothing to measure."""
        return self._measure(argument, observation)[0]

    def depends_on_time(self, argument: Any, observation: ArmObservation) -> Window | None:
        """By `timing`; by default the whole arm counts."""
        return self.timing(argument, observation)

    def check(self, argument: PhaseArgument, arm: CheckedArm) -> Iterator[Flaw]:
        """A part that the arm does not have, and by `flaws`."""
        if argument.phase is not None and argument.phase not in arm.phases:
            text = f"nothing of this arm is called {argument.phase!r}; {near_miss(argument.phase, arm.phases)}"
            yield Flaw(text, ("during" if argument.during else "after",))
        yield from self.flaws(argument, arm)

    def bounds_progress(self, argument: Any, arm: ArmName) -> bool:  # noqa: ARG002
        """By `is_progress`."""
        return self.is_progress(argument)

    def _measure(self, argument: SeriesArgument, observation: ArmObservation) -> tuple[float | None, str]:
        """The number, or None; and how many points it is made of, or why there is none."""
        if absent := self.absent(argument, observation):
            return None, absent
        part = argument.part_of(observation)
        if isinstance(part, str):
            return None, f"n/a: {part}"
        points = between(self.series(argument, observation), *part)
        if not points:
            return None, f"n/a: it was not looked at{argument.in_words}"
        extent = counted(len(points), self.point, self.points)
        value = figure(points, argument.of)
        if value is None:
            return None, f"n/a: {extent} are too few for a slope, which needs {FEWEST}"
        return value, f"of {extent}"
