"""Bounds as a scenario file writes them: `{at_least: …, at_most: …}`, or a value alone, which must be met exactly.

Bound           a whole number     restarts: {at_least: 2}
NumberBound     a number           amplification: {at_least: 2.5}
ShareBound      a share            abandoned: {at_least: 50%}
SizeBound       a size             peak_memory: {at_most: 2GiB}
DurationBound   a duration         flat_commit: {at_least: 15s}
"""

from datetime import timedelta
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from devkit.observe.bounded_figure import BoundedFigure
from located_config.duration import Duration, format_duration
from located_config.share import Share, format_share
from located_config.size import Size, format_size

T = TypeVar("T", int, float, timedelta)


class Range(BaseModel, Generic[T]):
    """One bound or both, inclusive."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    value: ClassVar[str] = "number"
    unit: ClassVar[str] = ""
    example: ClassVar[str] = "a number"
    has_negative: ClassVar[bool] = True
    """Whether a value may be below 0."""

    at_least: T | None = Field(default=None, description="Lower bound, inclusive.")
    at_most: T | None = Field(default=None, description="Upper bound, inclusive.")

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError(f"write at_least, at_most or {self.example}")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(
                f"no {self.value} is at least {self.show(self.at_least)} and at most {self.show(self.at_most)}; "
                "swap them?"
            )
        if not self.has_negative and any(
            bound is not None and _number(bound) < 0 for bound in (self.at_least, self.at_most)
        ):
            raise ValueError(f"no {self.value} is below 0")
        return self

    @property
    def always_holds(self) -> bool:
        """Whether no value is outside of the bounds."""
        return not self.has_negative and self.at_most is None and not _number(self.at_least or 0)

    def admits(self, value: T) -> bool:
        """Compares the exact value, not the rounded one that a person is shown."""
        return self.admits_between(value, value)

    def admits_between(self, at_least: T, at_most: T | None) -> bool:
        """Whether every value between these bounds is admitted; `at_most` None is no upper bound."""
        return (self.at_least is None or at_least >= self.at_least) and (
            self.at_most is None or (at_most is not None and at_most <= self.at_most)
        )

    def bounded(self, value: T, name: str = "") -> BoundedFigure:
        """The value with these bounds; a duration in seconds. `name` as a `BoundedFigure` has it."""
        at_least, at_most = (None if bound is None else _number(bound) for bound in (self.at_least, self.at_most))
        return BoundedFigure(value=_number(value), at_least=at_least, at_most=at_most, unit=self.unit, name=name)

    @classmethod
    def show(cls, value: T) -> str:
        """A bound as the file writes it."""
        return f"{value}"

    def __str__(self) -> str:
        if self.at_least is not None and self.at_least == self.at_most:
            return self.show(self.at_least)
        parts = [f"at least {self.show(self.at_least)}"] if self.at_least is not None else []
        parts += [f"at most {self.show(self.at_most)}"] if self.at_most is not None else []
        return " and ".join(parts)


def _number(value: float | timedelta) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


class Count(Range[int]):
    """Whole numbers."""

    has_negative: ClassVar[bool] = False


class Number(Range[float]):
    """Numbers that need not be whole."""

    @classmethod
    def show(cls, value: float) -> str:
        """At most six significant digits, without trailing zeros."""
        return f"{value:g}"


class Percentage(Range[Share]):
    """Shares of a whole."""

    has_negative: ClassVar[bool] = False
    value: ClassVar[str] = "share"
    unit: ClassVar[str] = "share"
    example: ClassVar[str] = "a share such as 50%"

    @classmethod
    def show(cls, value: float) -> str:
        """In percent, `12.5%`, although the value is a fraction of 1."""
        return format_share(value)


class Time(Range[Duration]):
    """Durations."""

    has_negative: ClassVar[bool] = False
    value: ClassVar[str] = "duration"
    unit: ClassVar[str] = "s"
    example: ClassVar[str] = "a duration such as 8s"

    @classmethod
    def show(cls, value: timedelta) -> str:
        """In the largest unit without a fraction: `90s`, `2m`."""
        return format_duration(value)


class Bytes(Range[Size]):
    """Sizes in bytes."""

    value: ClassVar[str] = "size"
    unit: ClassVar[str] = "bytes"
    example: ClassVar[str] = "a size such as 2GiB"

    @classmethod
    def show(cls, value: float) -> str:
        """In the largest binary unit without a fraction: `20MiB`. A stretched slope is rounded to bytes."""
        return format_size(round(value))


def or_exactly(model: type[Range[Any]], written: Any, *alone: type) -> BeforeValidator:
    """Lets a value stand alone, of a type in `alone`, for a range that admits nothing else; `written` is its form."""

    def spell_out(value: object) -> object:
        if isinstance(value, alone) and not isinstance(value, bool):
            return {"at_least": value, "at_most": value}
        if not isinstance(value, dict | Range | None):
            raise ValueError(  # noqa: TRY004 — what pydantic turns into a validation error
                f"{value!r} is no bound; write {model.example} or {{at_least: …, at_most: …}}"
            )
        return value

    return BeforeValidator(spell_out, json_schema_input_type=model | written)


Bound = Annotated[Count, or_exactly(Count, int, int)]
NumberBound = Annotated[Number, or_exactly(Number, float, int, float)]
ShareBound = Annotated[Percentage, or_exactly(Percentage, Share, int, float, str)]
SizeBound = Annotated[Bytes, or_exactly(Bytes, Size, int, str)]
DurationBound = Annotated[Time, or_exactly(Time, Duration, str)]
