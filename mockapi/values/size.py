"""A number of bytes as people write it in a file: `300KiB`, `20MiB`, or a whole number."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)


def parse(value: object) -> int:
    """Raises PydanticCustomError for what is neither a whole number nor a number with its unit.

    `pydantic.ByteSize` would ignore what it does not understand: `8,5MiB` would be 8 bytes.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in _UNITS:
        raise PydanticCustomError(
            "size", "not a size", {"hint": f"a number with its unit {', '.join(_UNITS)}, such as 20MiB, or bytes"}
        )
    return round(Decimal(match[1]) * _UNITS[match[2]])


Size = Annotated[int, BeforeValidator(parse, json_schema_input_type=int | str)]
