"""A length of time: `500us`, `40ms`, `10s`, `2m` (or `2min`), `1.5h`, `30d`; a shift of moments may be `-2m` as well.

A bare number is refused on purpose: a later reader does not know its unit.
"""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, PlainSerializer, WithJsonSchema

from located_config.quantity import (
    NUMBER,
    QuantityError,
    example_number,
    near_unit,
    reader,
    refused,
    text_schema,
    with_unit,
)

_UNITS_US: Final = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
UNITS: Final = "us, ms, s, m, h, d"
DURATION_PATTERN: Final = with_unit(_UNITS_US)

_FORM = re.compile(rf"\s*({NUMBER})\s*([^\W\d_]*)\s*")
_MICROSECOND = timedelta(microseconds=1)


def parse_duration(value: object) -> timedelta:
    """A duration from its text, to the microsecond; a timedelta passes. Raises QuantityError."""
    if isinstance(value, timedelta) and value >= timedelta(0):
        return value
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        example = f"{example_number(value, 10)}s"
        if example == f"{value}s":  # a number without its unit: which was meant, only its writer knows
            example = f"{value}ms or {example}"
        raise QuantityError("not a duration", value, f"write {example} ({UNITS})")
    number, unit = match.groups()
    if unit not in _UNITS_US:
        problem = f"unknown unit {unit!r}" if unit else "no unit"
        raise QuantityError(problem, value, f"write {number}{near_unit(unit, _UNITS_US, 's')} ({UNITS})")
    try:
        return timedelta(microseconds=round(Decimal(number) * _UNITS_US[unit]))
    except OverflowError:
        raise QuantityError("too long a duration", value, f"the longest is {timedelta.max.days}d") from None


def format_duration(value: timedelta) -> str:
    """The text that `parse_duration` reads back exactly, in the largest unit without a fraction: `90s`, `2m`, `0s`.

    Raises ValueError when the duration is negative.
    """
    if value < timedelta(0):
        raise ValueError(f"{value} is negative, a duration is not")
    count = value // _MICROSECOND
    if not count:
        return "0s"
    unit = next(unit for unit in ("d", "h", "m", "s", "ms", "us") if count % _UNITS_US[unit] == 0)
    return f"{count // _UNITS_US[unit]}{unit}"


def parse_shift(value: object) -> timedelta:
    """A duration, or one with a minus in front: so much earlier. A timedelta passes. Raises QuantityError."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and value.lstrip().startswith("-"):
        return -parse_duration(value.lstrip()[1:])
    return parse_duration(value)


def format_shift(value: timedelta) -> str:
    """The text that `parse_shift` reads back exactly."""
    return f"-{format_duration(-value)}" if value < timedelta(0) else format_duration(value)


def _above_zero(value: timedelta) -> timedelta:
    if not value:
        raise refused("must be above 0", f"write for example 10s ({UNITS})")
    return value


Duration = Annotated[
    timedelta,
    reader(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema(text_schema(DURATION_PATTERN)),
]
"""Written as text, `10s`, and dumped as text too. Never negative."""

PositiveDuration = Annotated[Duration, AfterValidator(_above_zero)]

Shift = Annotated[
    timedelta,
    reader(parse_shift),
    PlainSerializer(format_shift, return_type=str),
    WithJsonSchema(text_schema(DURATION_PATTERN.replace("^", "^\\s*-?", 1))),
]
"""So much later, or with a minus so much earlier: `2m`, `-2m`."""
