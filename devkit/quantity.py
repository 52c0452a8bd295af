"""Durations, rates and shares as people write them in files and on the command line: `10s`, `40ms`, `20/s`, `50%`.

A bare number is refused on purpose: nobody reading it later knows its unit.
Sizes are stricter than `pydantic.ByteSize`, which ignores what it does not understand (`8,5MiB` would be 8 bytes).
"""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS_US = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}
_UNIT_LIST = "ms, s, m, h"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]*)", re.ASCII)
_SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%", re.ASCII)
_RATE = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*/\s*([^\W\d_]+)", re.ASCII)


def parse_duration(value: object) -> timedelta:
    """A duration from `10s`, `1.5m`, `40ms` (microseconds at the finest); a timedelta passes.

    Raises ValueError, which says how to write it.
    """
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        raise ValueError(f"{value!r} is not a duration, write {value if number else 10}s ({_UNIT_LIST})")
    number_text, unit = match.groups()
    if unit not in _UNITS_US:
        what = f"unknown unit {unit!r}" if unit else f"no unit in {value!r}"
        raise ValueError(f"{what}, write {number_text}s ({_UNIT_LIST})")
    try:
        return timedelta(microseconds=int((Decimal(number_text) * _UNITS_US[unit]).to_integral_value()))
    except OverflowError:
        raise ValueError(f"{value!r} is too long, the longest is {timedelta.max.days * 24}h") from None


def format_duration(value: timedelta) -> str:
    """The text that `parse_duration` reads back exactly, in the largest unit that needs no fraction: `90s`, `2m`, `0s`.

    Raises ValueError when the duration is negative.
    """
    if value < timedelta(0):
        raise ValueError(f"{value} is negative, a duration is not")
    total_us = value // timedelta(microseconds=1)
    if total_us == 0:
        return "0s"
    for unit, unit_us in _UNITS_US.items():
        if total_us % unit_us == 0:
            return f"{total_us // unit_us}{unit}"
    return f"{total_us // 1000}.{total_us % 1000:03d}".rstrip("0") + "ms"


def parse_size(value: object) -> int:
    """Bytes from `20MiB`, `300 KiB`, or a whole number of bytes; raises ValueError, which says how to write it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a size, write 20MiB ({', '.join(_SIZE_UNITS)}) or a whole number of bytes")
    number, unit = match.groups()
    if unit not in _SIZE_UNITS:
        near = next((known for known in _SIZE_UNITS if known.lower() == unit.lower()), "MiB")
        raise ValueError(f"unknown unit {unit!r}, write {number}{near} ({', '.join(_SIZE_UNITS)})")
    return round(Decimal(number) * _SIZE_UNITS[unit])


def parse_rate(value: object) -> float:
    """Events per second from `20/s`, `5/m`, `0.5/h`; raises ValueError, which says how to write it."""
    match = _RATE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        raise ValueError(f"{value!r} is not a rate, write {value if number else 20}/s (s, m, h)")
    number_text, unit = match.groups()
    if unit not in ("s", "m", "h"):
        raise ValueError(f"unknown unit {unit!r}, write {number_text}/s (s, m, h)")
    per_s = float(number_text) / (_UNITS_US[unit] // 1_000_000)
    if not 0 < per_s < float("inf"):
        raise ValueError(f"{value!r} is not a rate above zero, write 20/s (s, m, h)")
    return per_s


def format_rate(per_s: float) -> str:
    """The text that `parse_rate` reads back exactly: `20/s`."""
    return f"{per_s:.0f}/s" if per_s.is_integer() else f"{per_s!r}/s"


def parse_share(value: object) -> float:
    """A share of a whole, 0 to 1, from `50%`; raises ValueError, which says how to write it."""
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a share, write 50%")
    share = float(Decimal(match[1]) / 100)
    if share > 1:
        raise ValueError(f"{value!r} is more than the whole, at most 100%")
    return share


def format_share(share: float) -> str:
    """The text that `parse_share` reads back: `50%`."""
    return f"{share * 100:.10g}%"


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, return_type=str)]
"""A timedelta written as text, `10s`; dumped as text too."""

Rate = Annotated[
    float, BeforeValidator(parse_rate, json_schema_input_type=str), PlainSerializer(format_rate, return_type=str)
]
"""Events per second written as text, `20/s`; dumped as text too."""

Share = Annotated[
    float, BeforeValidator(parse_share, json_schema_input_type=str), PlainSerializer(format_share, return_type=str)
]
"""A share of a whole, 0 to 1, written `50%`; dumped as text too."""

Size = Annotated[int, BeforeValidator(parse_size, json_schema_input_type=int | str)]
"""Bytes, written `20MiB` or as a number."""
