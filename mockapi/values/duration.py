"""A length of time as people write it in a file: `40ms`, `10s`, `2m`."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer
from pydantic_core import PydanticCustomError

_MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h)")


def parse(value: object) -> timedelta:
    """Raises PydanticCustomError for what is neither a timedelta nor a number with its unit."""
    if isinstance(value, timedelta) and value >= timedelta(0):
        return value
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError(
            "duration", "not a duration", {"hint": "a number with its unit us, ms, s, m or h, such as 40ms or 10s"}
        )
    try:
        return timedelta(microseconds=round(float(match[1]) * _MICROSECONDS[match[2]]))
    except OverflowError:
        raise PydanticCustomError("duration", "too long a duration", {"hint": "write what can be waited for"}) from None


def text(value: timedelta) -> str:
    """The shortest exact form: `40ms`, `1500us`, `2m`."""
    count = value // timedelta(microseconds=1)
    if count == 0:
        return "0s"
    unit = next(unit for unit in reversed(_MICROSECONDS) if count % _MICROSECONDS[unit] == 0)
    return f"{count // _MICROSECONDS[unit]}{unit}"


Duration = Annotated[timedelta, BeforeValidator(parse), PlainSerializer(text, return_type=str, when_used="json")]
"""Never negative. A bare number is refused: its unit would be a guess."""


def _above_zero(value: timedelta) -> timedelta:
    if not value:
        raise PydanticCustomError("duration", "a duration of 0", {"hint": "above 0, such as 40ms or 10s"})
    return value


PositiveDuration = Annotated[Duration, AfterValidator(_above_zero)]
