"""A number of things in a time: `20/s`, `5/m` (or `5/min`), `0.5/h`, `100/d`.

A bare number is refused on purpose: a later reader does not know its unit.
"""

import re
from decimal import Decimal
from typing import Annotated, Final

from pydantic import PlainSerializer, WithJsonSchema

from located_config.quantity import NUMBER, QuantityError, example_number, near_unit, reader, text_schema

_UNITS_S: Final = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400}
UNITS: Final = "s, m, h, d"
_COUNT = rf"{NUMBER}(?:e[+-]?[0-9]+)?"
RATE_PATTERN: Final = rf"^\s*{_COUNT}\s*/\s*(?:{'|'.join(_UNITS_S)})\s*$"

_FORM = re.compile(rf"\s*({_COUNT})\s*/\s*([^\W\d_]+)\s*")


def parse_rate(value: object) -> float:
    """Per second. Raises QuantityError, for a rate of 0 too."""
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise QuantityError("not a rate", value, f"write {example_number(value, 20)}/s ({UNITS})")
    count, unit = match.groups()
    if unit not in _UNITS_S:
        near = "s" if unit in ("ms", "us") else near_unit(unit, _UNITS_S, "s")
        raise QuantityError(f"unknown unit {unit!r}", value, f"write {count}/{near} ({UNITS})")
    per_s = float(count) / _UNITS_S[unit]
    if not 0 < per_s < float("inf"):
        raise QuantityError("not a rate above 0", value, f"write 20/s ({UNITS})")
    return per_s


def format_rate(per_s: float) -> str:
    """The text that `parse_rate` reads back exactly, as a whole number where there is one: `20/s`, `200/m`, `0.3/s`."""
    for unit in ("s", "m", "h", "d"):
        count = round(per_s * _UNITS_S[unit])
        if count / _UNITS_S[unit] == per_s:
            return f"{count}/{unit}"
    return f"{Decimal(repr(per_s)):f}/s"


class PerSecond:
    """Marks the type of a number per second: `Annotated[Size, PER_SECOND]`."""


PER_SECOND: Final = PerSecond()

Rate = Annotated[
    float,
    PER_SECOND,
    reader(parse_rate),
    PlainSerializer(format_rate, return_type=str),
    WithJsonSchema(text_schema(RATE_PATTERN)),
]
"""A second; written as text, `20/s`, and dumped as text too. Above 0."""
