"""Expectations on what was looked at again and again: which number of its course, and in which part of the arm.

of: slope           a minute's change, by the line through all points
during: broker cut  from the beginning of that fault of the timeline, or phase of the traffic, to its end
after: broker cut   from its end to the arm's end
"""

import math
from collections.abc import Callable
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from devkit.expectations.base import Finding
from devkit.expectations.bounds import Range
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.course import FEWEST, Course, Of, between, figure
from located_config.count import counted


class InPhase(BaseModel):
    """A part of the arm; by default all of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    during: str | None = Field(default=None, min_length=1)
    after: str | None = Field(default=None, min_length=1)

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

    of: Of = "last"

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


def value_of(argument: OfSamples, course: Course, observation: ArmObservation) -> tuple[float | None, str]:
    """The number, or None; and how many points it is made of, or why there is none."""
    part = argument.part_of(observation)
    if isinstance(part, str):
        return None, part
    points = between(course, *part)
    value = figure(points, argument.of)
    if value is None and points:
        return None, f"{counted(len(points), 'look')} are too few for a slope, which needs {FEWEST}"
    return value, f"of {counted(len(points), 'look')}" if points else f"it was not looked at{argument.in_words}"


def judged(name: str, bounds: Range[Any], found: tuple[float | None, str], show: Callable[[float], str]) -> Finding:
    """Holds what `value_of` found against the bounds. Undecided without a number."""
    value, of_what = found
    if value is None:
        return Finding(name, str(bounds), f"n/a: {of_what}", holds=None)
    return Finding(name, str(bounds), f"{show(value)} ({of_what})", bounds.admits(value))
