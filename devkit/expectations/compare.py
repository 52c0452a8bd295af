"""The ratio of a figure in two arms: `compare: {rate: {of: healthy, arms: [fixed, incident], at_least: 8}}`.

The figure has the name and the keys of its expectation; the bounds are on the first arm's figure divided by the second
one's. It belongs to the expectations of the arm that is played last.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError

from devkit.expectations.base import ExpectationKind, Finding, check_argument, hidden_records, observation_of_program
from devkit.expectations.bounds import Number
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation, ComparedArm
from devkit.observe.arm_role import ArmName
from devkit.observe.observable import why_not_observable
from located_config.near import near_miss

_LOWEST = (0, "0s", "1/d")
"""Lower bounds of a number, size or share, of a duration and of a rate."""


@runtime_checkable
class _HasFigure(Protocol):
    """A kind of expectation on one figure."""

    def figure(self, argument: Any, observation: ArmObservation) -> float | None: ...


def _distinct(arms: tuple[str, str]) -> tuple[str, str]:
    if arms[0] == arms[1]:
        raise ValueError(f"an arm is not compared with itself: {arms[0]} is there twice")
    return arms


class Ratio(Number):
    """Bounds on the ratio of two arms' figures; further keys are those of the figure's own expectation."""

    model_config = ConfigDict(extra="allow")

    arms: Annotated[tuple[str, str], AfterValidator(_distinct)] = Field(
        description="Two arms: the first one's figure is divided by the second one's."
    )


@dataclass(frozen=True)
class Comparison:
    """`argument` is that of the figure's own expectation, with a bound that always holds."""

    figure: str
    ratio: Ratio
    argument: Any

    def __str__(self) -> str:
        first, second = self.ratio.arms
        return f"{self.figure} of {first} / {self.figure} of {second} {self.ratio}"

    def slower(self, by: int) -> Self:  # noqa: ARG002
        """A ratio stays."""
        return self


@dataclass(frozen=True, kw_only=True)
class Compare(ExpectationKind):
    """`kinds` gives all kinds of expectations by name, also those that are registered later."""

    kinds: Callable[[], Mapping[str, ExpectationKind]]
    name: str = "compare"
    summary: str = (
        "Ratio of a figure between two `arms`: its value in the first, divided by that in the second. Write the "
        "figure like its own expectation, with the same keys, under the arm that is played last. Unknown if one of "
        "the arms was not played."
    )
    example: str = "{rate: {of: healthy, arms: [fixed, incident], at_least: 8}}"
    argument: Any = field(init=False)

    def __post_init__(self) -> None:
        read = PlainValidator(self._read, json_schema_input_type=dict[str, Ratio])
        object.__setattr__(self, "argument", Annotated[Any, read])

    def judge(self, argument: Comparison, observation: ArmObservation) -> Finding:
        """Undecided if the figure of one of the arms is unknown."""
        values: list[float] = []
        for arm in argument.ratio.arms:
            figure = self._figure(argument, arm, observation)
            if isinstance(figure, ComparedArm):
                measured, short, slowdown = f"n/a in arm {arm}", figure.short, figure.slowdown
                return Finding(self.name, str(argument), measured, holds=None, short=short, slowdown=slowdown)
            if isinstance(figure, str):
                return Finding(self.name, str(argument), f"n/a: {figure}", holds=None)
            values.append(figure)
        first, second = values
        if not first and not second:
            return Finding(self.name, str(argument), "n/a: it is 0 in both arms", holds=None)
        ratio = first / second if second else math.copysign(math.inf, first)
        measured = f"{ratio:.2f} ({first:g} / {second:g})"
        figures = (argument.ratio.bounded(ratio),) if second else ()
        return Finding(self.name, str(argument), measured, argument.ratio.admits(ratio), figures=figures)

    def depends_on_time(self, argument: Comparison, observation: ArmObservation) -> Window | None:
        """If the figure does in one of the arms. `judge` says whether the other arm was short of time."""
        arms = [observation.arms[arm] for arm in argument.ratio.arms if arm in observation.arms]
        kind = self.kinds()[argument.figure]
        windows = [kind.depends_on_time(argument.argument, played.observation) for played in arms]
        # The window of a duration is 0 s here, as its bound is.
        return "arm" if any(window is not None for window in windows) else None

    def check(self, argument: Comparison, arm: CheckedArm) -> Iterator[Flaw]:
        """An unknown arm, an arm that is played after this one, and the flaws of the figure itself."""
        order, compared = list(arm.arms), argument.ratio.arms
        for other in compared:
            if other not in order:
                yield Flaw(f"there is no arm {other!r}; {near_miss(other, order)}")
            elif order.index(other) > order.index(arm.name):
                yield Flaw(f"arm {other} is played after this one: let it stand in expect.{other}")
        if arm.name not in compared and {*compared} <= {*order}:
            yield Flaw(f"this arm is not among the two: let it stand in expect.{compared[0]}")
        kind = self.kinds()[argument.figure]
        for compared_arm in (arm.arms[name] for name in compared if name in order):
            for flaw in check_argument(kind, argument.argument, compared_arm):
                # The bound of the figure is a stand-in, not one of the file.
                if flaw.key != ("at_least",):
                    yield replace(flaw, key=(argument.figure, *flaw.key))

    def bounds_progress(self, argument: Comparison, arm: ArmName) -> bool:
        """If the arm's rate has to be the higher one."""
        first, second = argument.ratio.arms
        least, most = argument.ratio.at_least is not None, argument.ratio.at_most is not None
        return argument.figure == "rate" and ((first == arm and least) or (second == arm and most))

    def _figure(self, argument: Comparison, arm: str, observation: ArmObservation) -> float | str | ComparedArm:
        """The arm's figure, or why it is unknown, or the arm itself if its machine was too busy for that figure."""
        if (played := observation.arms.get(arm)) is None:
            return f"arm {arm} was not played"
        kind, observed = self.kinds()[argument.figure], observation_of_program(argument.argument, played.observation)
        if missing := kind.needs & observed.not_observable:
            return f"of arm {arm}: {why_not_observable(missing)}"
        if hidden := hidden_records(kind.needs, observed):
            return f"of arm {arm}: {hidden}"
        if played.short and kind.depends_on_time(argument.argument, observed) is not None:
            return played
        assert isinstance(kind, _HasFigure)
        value = kind.figure(argument.argument, observed)
        return f"arm {arm} has no {argument.figure}" if value is None else value

    def _read(self, value: object) -> Comparison:
        if isinstance(value, Comparison):
            return value
        known = {name: kind for name, kind in self.kinds().items() if isinstance(kind, _HasFigure)}
        if not isinstance(value, dict) or len(value) != 1:
            raise ValueError("write one figure and the arms: {rate: {arms: [fixed, incident], at_least: 2}}")
        ((name, written),) = value.items()
        if name not in known:
            raise ValueError(f"{name!r} has no figure to compare; {near_miss(str(name), known)}")
        try:
            ratio = Ratio.model_validate(written)
            return Comparison(name, ratio, _argument(known[name], dict(ratio.model_extra or {})))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in (name, *first["loc"]))
            raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from error


def _argument(kind: ExpectationKind, own: dict[str, Any]) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(kind.argument)
    for bound in _LOWEST:
        try:
            return adapter.validate_python({**own, "at_least": bound})
        except ValidationError as error:
            last = error
            if not any(detail["loc"][-1:] == ("at_least",) for detail in error.errors()):
                break
    raise last
