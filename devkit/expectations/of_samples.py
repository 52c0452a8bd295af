"""Expectations on what was looked at again and again: which number of its course, and in which part of the arm.

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
from devkit.expectations.timing import of_arm
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.time_series import FEWEST, Of, TimeSeries, between, figure
from located_config.count import counted
from located_config.near import near_miss


class InPhase(BaseModel):
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
    def _one_part(self) -> Self:
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


class OfSamples(InPhase):
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


class TimeOfSamples(Time, OfSamples):
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
class OfCourse(ExpectationKind):
    """An expectation on a number of a course: `course` gives the points, `show` tells the number.

    `absent` says why there is no course to look at, "" where there is one. `look` is what a point is called, `looks`
    what several are where that takes more than an `s`, and `as_bound` turns the number into what the bounds are of.
    `flaws` checks what an argument has besides its part of the arm, and `is_progress` is whether an arm that did too
    little breaks it.
    """

    course: Callable[[Any, ArmObservation], TimeSeries]
    show: Callable[[float], str]
    timing: Callable[[Any, ArmObservation], Window | None] = of_arm
    absent: Callable[[Any, ArmObservation], str] = _nothing_absent
    flaws: Callable[[Any, CheckedArm], Iterable[Flaw]] = has_no_flaws
    is_progress: Callable[[Any], bool] = _is_no_progress
    look: str = "look"
    looks: str | None = None
    as_bound: Callable[[float], Any] = float

    def judge(self, argument: Any, observation: ArmObservation) -> Finding:
        """Undecided without a number."""
        value, of_what = self._found(argument, observation)
        if value is None:
            return Finding(self.name, str(argument), of_what, holds=None)
        measured = f"{self.show(value)} ({of_what})"
        bound = self.as_bound(value)
        return Finding(self.name, str(argument), measured, argument.admits(bound), figures=(argument.bounded(bound),))

    def figure(self, argument: Any, observation: ArmObservation) -> float | None:
        """In the unit of the course; None where there was nothing to measure."""
        return self._found(argument, observation)[0]

    def depends_on_time(self, argument: Any, observation: ArmObservation) -> Window | None:
        """By `timing`; by default the whole arm counts."""
        return self.timing(argument, observation)

    def check(self, argument: InPhase, arm: CheckedArm) -> Iterator[Flaw]:
        """A part that the arm does not have, and by `flaws`."""
        if argument.phase is not None and argument.phase not in arm.phases:
            text = f"nothing of this arm is called {argument.phase!r}; {near_miss(argument.phase, arm.phases)}"
            yield Flaw(text, ("during" if argument.during else "after",))
        yield from self.flaws(argument, arm)

    def bounds_progress(self, argument: Any, arm: ArmName) -> bool:  # noqa: ARG002
        """By `is_progress`."""
        return self.is_progress(argument)

    def _found(self, argument: OfSamples, observation: ArmObservation) -> tuple[float | None, str]:
        """The number, or None; and how many points it is made of, or why there is none."""
        if absent := self.absent(argument, observation):
            return None, absent
        part = argument.part_of(observation)
        if isinstance(part, str):
            return None, f"n/a: {part}"
        points = between(self.course(argument, observation), *part)
        if not points:
            return None, f"n/a: it was not looked at{argument.in_words}"
        looks = counted(len(points), self.look, self.looks)
        value = figure(points, argument.of)
        if value is None:
            return None, f"n/a: {looks} are too few for a slope, which needs {FEWEST}"
        return value, f"of {looks}"
