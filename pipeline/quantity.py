"""Durations as people write them in configuration: `40ms`, `10s`, `2m`, `1h`."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Zµ]*)")


def parse_duration(value: object) -> timedelta:
    """A duration from its text; raises ValueError that says how to write it."""
    if isinstance(value, timedelta):
        return value
    match = _FORM.fullmatch(str(value).strip())
    if not match or isinstance(value, bool):
        raise ValueError(
            f"{value!r} is not a duration; write a number and a unit, for example 10s (units: ms, s, m, h)"
        )
    number, unit = match.groups()
    if unit not in _UNITS_S:
        what = f"unknown unit {unit!r}" if unit else "no unit"
        raise ValueError(f"{what} in {value!r}; write for example {number}s (units: ms, s, m, h)")
    try:
        return timedelta(seconds=float(number) * _UNITS_S[unit])
    except OverflowError:
        raise ValueError(f"{value!r} is longer than any duration can be") from None


def format_duration(value: timedelta) -> str:
    """The text, in seconds or milliseconds, that `parse_duration` reads back as the same duration."""
    microseconds = value // timedelta(microseconds=1)
    unit, size, digits = ("s", 1_000_000, 6) if microseconds >= 1_000_000 or not microseconds else ("ms", 1000, 3)
    whole, rest = divmod(microseconds, size)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".") + unit


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, return_type=str)]
