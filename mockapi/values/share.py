"""A share as people write it in a file: `1%`, or a fraction such as `0.01`."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%", re.ASCII)
_HINT = "above 0% and up to 100%, such as 1%, or a fraction such as 0.01"


def parse(value: object) -> float:
    """A fraction from 0 to 1. Raises PydanticCustomError for all else.

    A bare whole number is refused: `1` could be one in a hundred as well as all.
    """
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else value if isinstance(value, float) else None
    if share is None or not 0 <= share <= 1:
        raise PydanticCustomError("share", "not a share", {"hint": _HINT})
    return share


def _above_zero(share: float) -> float:
    if not share:
        raise PydanticCustomError("share", "not a share", {"hint": _HINT})
    return share


ShareOrNone = Annotated[float, BeforeValidator(parse, json_schema_input_type=float | str)]
"""From 0 (none) to 1 (all)."""

Share = Annotated[ShareOrNone, AfterValidator(_above_zero)]
"""Above 0."""
