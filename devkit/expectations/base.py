"""What a kind of expectation is: a name, the type of its argument, what it needs to have been seen, and a function from
what was observed to a finding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from devkit.expectations.bounds import Bound, Range
from devkit.expectations.timing import Timing, timeless
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation
from devkit.observe.sight import Sight

T = TypeVar("T")
NOTHING: frozenset[Sight] = frozenset()


@dataclass(frozen=True)
class Finding:
    """What was expected, what was measured, and whether the one matches the other; None where it cannot be judged.

    One that is `decisive` is excused by nothing, a machine that was short of time included.
    """

    name: str
    expected: str
    measured: str
    holds: bool | None
    decisive: bool = False


class ExpectationKind(Protocol):
    """`argument` is the type that its value in a scenario file must fit, `example` such a value in YAML, and `summary`
    a sentence or two on what is measured, or what holds.

    Where a program does not show all that it `needs`, whether it holds is not known, and `judge` does not decide. One
    to which less may be enough needs nothing here, and decides in `judge`.
    """

    @property
    def name(self) -> str: ...

    @property
    def argument(self) -> Any: ...

    @property
    def summary(self) -> str: ...

    @property
    def example(self) -> str: ...

    @property
    def needs(self) -> frozenset[Sight]: ...

    def judge(self, argument: Any, observation: ArmObservation) -> Finding: ...

    def depends_on_time(self, argument: Any, observation: ArmObservation) -> Window | None:
        """The time whose shortage would make the finding say nothing; None where time has no part in it."""


def _plainly(value: object, _observation: ArmObservation) -> str:
    return f"{value}"


@dataclass(frozen=True)
class Measure(Generic[T]):
    """One figure. Where `of` gives None there was nothing to measure, so no bound holds; `absent` says why.

    `argument` is a bound on what `of` gives, and `tell` says it with what a reader needs beside it. `timing` says
    whether it depends on time.
    """

    name: str
    of: Callable[[ArmObservation], T | None]
    argument: Any = Bound
    absent: str = "nothing to count"
    tell: Callable[[T, ArmObservation], str] = _plainly
    timing: Timing = timeless
    needs: frozenset[Sight] = NOTHING
    summary: str = ""
    example: str = ""

    def judge(self, argument: Range[Any], observation: ArmObservation) -> Finding:
        value = self.of(observation)
        if value is None:
            return Finding(self.name, str(argument), self.absent, holds=False)
        return Finding(self.name, str(argument), self.tell(value, observation), argument.admits(value))

    def depends_on_time(self, argument: Range[Any], observation: ArmObservation) -> Window | None:
        return self.timing(argument, observation)
