"""A share of a whole: `5%`, or the fraction `0.05`."""

import re
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, WithJsonSchema

from located_config.quantity import NUMBER, QuantityError, reader, refused, text_schema

_HOW: Final = "write 5% or 0.05, up to 100%"
_PERCENT = r"0*(?:100(?:\.0+)?|[0-9]{1,2}(?:\.[0-9]+)?)\s*%"
_FRACTION = r"0*1(?:\.0+)?|0+(?:\.[0-9]+)?"
SHARE_PATTERN: Final = rf"^\s*(?:{_PERCENT}|{_FRACTION})\s*$"

_FORM = re.compile(rf"\s*({NUMBER})\s*(%?)\s*")


def parse_share(value: object) -> float:
    """A fraction from 0 (none) to 1 (all). Raises QuantityError."""
    share: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value)
    elif isinstance(value, str) and (match := _FORM.fullmatch(value)):
        share = float(Decimal(match[1]) / (100 if match[2] else 1))
    if share is None:
        raise QuantityError("not a share", value, _HOW)
    if not 0 <= share <= 1:
        raise QuantityError("more than the whole" if share > 1 else "not a share", value, _HOW)
    return share


def format_share(share: float) -> str:
    """The text that `parse_share` reads back exactly: `5%`."""
    percent = (Decimal(repr(share)) * 100).normalize()
    return f"{percent:f}%"


def _above_zero(share: float) -> float:
    if not share:
        raise refused("must be above 0", _HOW)
    return share


Share = Annotated[
    float,
    reader(parse_share),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, text_schema(SHARE_PATTERN)]}, mode="validation"
    ),
]
"""From 0 to 1; written `5%` or `0.05`, dumped as a number."""

PositiveShare = Annotated[Share, AfterValidator(_above_zero)]
