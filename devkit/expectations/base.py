"""What a check is: a name, the type of its argument, and a function from what was observed to a finding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from devkit.expectations.bounds import Bound, Range
from devkit.observe.arm import ArmObservation

T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """What was expected, what was measured, and whether the one meets the other; None is that nobody can tell."""

    name: str
    expected: str
    measured: str
    holds: bool | None


class Check(Protocol):
    """One kind of expectation. `argument` is the type that its value in a scenario file must fit."""

    @property
    def name(self) -> str: ...

    @property
    def argument(self) -> Any: ...

    def judge(self, argument: Any, observation: ArmObservation) -> Finding: ...


def _plainly(value: object, _observation: ArmObservation) -> str:
    return f"{value}"


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A check on one figure. Where `of` gives None there was nothing to measure, so no bound holds; `absent` says why.

    `argument` is a bound on what `of` gives, and `tell` says it with what a reader needs beside it.
    """

    name: str
    of: Callable[[ArmObservation], T | None]
    argument: Any = Bound
    absent: str = "nothing to count"
    tell: Callable[[T, ArmObservation], str] = _plainly

    def judge(self, argument: Range[Any], observation: ArmObservation) -> Finding:
        value = self.of(observation)
        if value is None:
            return Finding(self.name, str(argument), self.absent, holds=False)
        return Finding(self.name, str(argument), self.tell(value, observation), argument.admits(value))
