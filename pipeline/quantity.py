"""Durations and sizes as people write them in configuration: `40ms`, `10s`, `2m`, `1h`, `30d`; `300KiB`, `20MiB`."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Zµ]*)")

_SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)


def parse_duration(value: object) -> timedelta:
    """A duration from its text; raises ValueError that says how to write it."""
    if isinstance(value, timedelta):
        return value
    match = _FORM.fullmatch(str(value).strip())
    if not match or isinstance(value, bool):
        raise ValueError(
            f"{value!r} is not a duration; write a number and a unit, for example 10s (units: ms, s, m, h, d)"
        )
    number, unit = match.groups()
    if unit not in _UNITS_S:
        what = f"unknown unit {unit!r}" if unit else "no unit"
        raise ValueError(f"{what} in {value!r}; write for example {number}s (units: ms, s, m, h, d)")
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


def parse_size(value: object) -> int:
    """Bytes from `20MiB`, `300 KiB`, or a whole number of bytes; raises ValueError, which says how to write it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a size, write 20MiB ({', '.join(_SIZE_UNITS)}) or a whole number of bytes")
    number, unit = match.groups()
    if unit not in _SIZE_UNITS:
        near = next((known for known in _SIZE_UNITS if known.lower() == unit.lower()), None)
        near = near or next((known for known in ("KiB", "GiB") if known[0].lower() == unit[0].lower()), "MiB")
        raise ValueError(f"unknown unit {unit!r}, write {number}{near} ({', '.join(_SIZE_UNITS)})")
    return round(Decimal(number) * _SIZE_UNITS[unit])


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, return_type=str)]
Size = Annotated[int, BeforeValidator(parse_size, json_schema_input_type=int | str)]
