"""A kind of expectation: its name, the type of its argument, what must be observable, and how it judges an arm."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from devkit.expectations.bounds import Bound, Range
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import named_program
from devkit.expectations.timing import Timing, timeless
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.observable import Observable
from devkit.programs.unknown_program import unknown_program
from located_config.place import Location

T = TypeVar("T")
NOTHING: frozenset[Observable] = frozenset()


def hidden_records(needs: frozenset[Observable], observation: ArmObservation) -> str:
    """Which of the needed records a fault removed, as text; "" for none.

    An event whose record was removed would count as one that was never emitted.
    """
    return "; ".join(observation.hidden) if "sources" in needs else ""


@dataclass(frozen=True)
class Finding:
    """What was expected, what was measured, and whether the two match; `holds` is None if this cannot be judged.

    Nothing excuses a `decisive` finding, not even a busy machine. `figures` are the measured values with their bounds.
    `short` says that the machine of a compared arm was too busy to judge, `slowdown` how many times slower it was.
    """

    name: str
    expected: str
    measured: str
    holds: bool | None
    decisive: bool = False
    figures: tuple[BoundedFigure, ...] = ()
    short: str = ""
    slowdown: float | None = None


@dataclass(frozen=True, kw_only=True)
class ExpectationKind(ABC):
    """What the registry has for one key of `expect`.

    `name` is the key, and `argument` the type that its value must fit: a pydantic model or an annotated type. `summary`
    and `example` (a value in YAML, without the key) are for the reference. Where something that it `needs` was not
    observable the finding is undecided, whatever `judge` returns; empty where less may be enough: then `judge` decides.
    """

    name: str
    argument: Any
    summary: str = ""
    example: str = ""
    needs: frozenset[Observable] = NOTHING

    @abstractmethod
    def judge(self, argument: Any, observation: ArmObservation) -> Finding:
        """Depends on the arguments alone, so that a recorded observation gives the same finding again."""

    def depends_on_time(self, argument: Any, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """The time whose shortage would make the finding say nothing; None where time has no part in it."""
        return None

    def check(self, argument: Any, arm: CheckedArm) -> Iterable[Flaw]:  # noqa: ARG002
        """Why nothing in any run of the arm could meet or break the argument. A program that it names is known."""
        return ()

    def bounds_progress(self, argument: Any, arm: ArmName) -> bool:  # noqa: ARG002
        """Whether an arm that did too little breaks it."""
        return False

    def bounds_loss(self, argument: Any) -> bool:  # noqa: ARG002
        """Whether it says how many events may be lost."""
        return False


def check_argument(kind: ExpectationKind, argument: Any, arm: CheckedArm) -> Iterator[Flaw]:
    """Why the argument decides nothing, its program included."""
    for key, bound in _bounds_in(argument):
        if bound.always_holds:
            yield Flaw("it is never below 0: write a higher bound, or at_most", (*key, "at_least"))
    program = named_program(argument)
    if program is not None and program not in arm.programs:
        yield Flaw(unknown_program(program, [name for name in arm.programs if name]), ("program",))
    else:
        yield from kind.check(argument, arm)


def _bounds_in(argument: Any) -> Iterator[tuple[Location, Range[Any]]]:
    """The argument itself, or those of its fields that are bounds, with their places."""
    if isinstance(argument, Range):
        yield (), argument
    elif isinstance(argument, BaseModel):
        yield from (((name,), value) for name, value in argument if isinstance(value, Range))


def observation_of_program(argument: Any, observation: ArmObservation) -> ArmObservation:
    """What was observed of the program that the argument names; by default the main one."""
    name = named_program(argument)
    program = observation.program(name) if name else None
    return observation.of(program) if program else observation


def _format_plainly(value: object, _observation: ArmObservation) -> str:
    return f"{value}"


def has_no_flaws(_argument: Any, _arm: CheckedArm) -> Iterable[Flaw]:
    """Any argument decides something."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Measure(ExpectationKind, Generic[T]):
    """One figure. `argument` is the type of its bound, and `format_value` shows the figure to a reader.

    If `value` returns None, there was nothing to measure: no bound holds, and `absent` says why. With `unknown`, which
    then says why, the finding is undecided instead. `timing` says whether the figure depends on time. `flaws` checks an
    argument.
    """

    value: Callable[[ArmObservation], T | None]
    argument: Any = Bound
    absent: str = "nothing to count"
    unknown: str | Callable[[ArmObservation], str] = ""
    format_value: Callable[[T, ArmObservation], str] = _format_plainly
    timing: Timing = timeless
    flaws: Callable[[Any, CheckedArm], Iterable[Flaw]] = has_no_flaws

    def judge(self, argument: Range[Any], observation: ArmObservation) -> Finding:
        """Undecided where nothing is known, and only there."""
        value = self.value(observation)
        if value is None and self.unknown:
            why = self.unknown if isinstance(self.unknown, str) else self.unknown(observation)
            return Finding(self.name, str(argument), f"n/a: {why.removeprefix('n/a: ')}", holds=None)
        if value is None:
            return Finding(self.name, str(argument), self.absent, holds=False)
        figures = (argument.bounded(value),)
        measured = self.format_value(value, observation)
        return Finding(self.name, str(argument), measured, argument.admits(value), figures=figures)

    def figure(self, argument: Range[Any], observation: ArmObservation) -> float | None:  # noqa: ARG002
        """A duration in seconds; None where `value` gives None."""
        value = self.value(observation)
        if isinstance(value, timedelta):
            return value.total_seconds()
        return value if value is None else float(cast("float", value))

    def depends_on_time(self, argument: Range[Any], observation: ArmObservation) -> Window | None:
        """By `timing`; by default a finding does not depend on time."""
        return self.timing(argument, observation)

    def check(self, argument: Range[Any], arm: CheckedArm) -> Iterable[Flaw]:
        """By `flaws`."""
        return self.flaws(argument, arm)
