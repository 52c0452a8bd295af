"""A number of bytes: `300KiB`, `20MiB`, `5MB`, or the whole number.

`pydantic.ByteSize` would ignore what it does not understand: `8,5MiB` would be 8 bytes.
"""

import re
from decimal import Decimal
from typing import Annotated, Final

from pydantic import WithJsonSchema

from located_config.quantity import NUMBER, QuantityError, near_unit, reader, text_schema

_UNITS: Final = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
UNITS: Final = ", ".join(_UNITS)
SIZE_PATTERN: Final = rf"^\s*(?:[0-9]+|{NUMBER}\s*(?:{'|'.join(_UNITS)}))\s*$"

_FORM = re.compile(rf"\s*({NUMBER})\s*([^\W\d_]*)\s*")


def parse_size(value: object) -> int:
    """Bytes from `20MiB`, `300 KiB`, or a whole number of bytes. Raises QuantityError."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    number, unit = match.groups() if match else ("", "")
    if match is None or (not unit and "." in number):
        raise QuantityError("not a size", value, f"write 20MiB ({UNITS}) or a whole number of bytes")
    if unit and unit not in _UNITS:
        near = near_unit(unit, _UNITS, "MiB")
        raise QuantityError(f"unknown unit {unit!r}", value, f"write {number}{near} ({UNITS})")
    return round(Decimal(number) * _UNITS[unit or "B"])


def format_size(size_bytes: int) -> str:
    """The text that `parse_size` reads back exactly, in the largest binary unit without a fraction: `20MiB`, `7B`.

    Raises ValueError when it is negative.
    """
    if size_bytes < 0:
        raise ValueError(f"{size_bytes} is negative, a size is not")
    unit = next(unit for unit in ("GiB", "MiB", "KiB", "B") if size_bytes % _UNITS[unit] == 0)
    return f"{size_bytes // _UNITS[unit]}{unit}" if size_bytes else "0B"


Size = Annotated[
    int,
    reader(parse_size),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, text_schema(SIZE_PATTERN)]}, mode="validation"),
]
"""Bytes, written `20MiB` or as a number; dumped as a number. Never negative."""
