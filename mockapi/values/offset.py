"""A place in an answer as people write it in a file: after `10KiB`, or after `50%` of it."""

from typing import Annotated

from pydantic import PlainSerializer, PlainValidator
from pydantic_core import PydanticCustomError

from mockapi.delivery.delivery import Offset
from mockapi.values import share, size


def parse(value: object) -> Offset:
    """A share or a number of bytes. Raises PydanticCustomError for all else."""
    if isinstance(value, Offset):
        return value
    try:
        if isinstance(value, float) or (isinstance(value, str) and value.strip().endswith("%")):
            return Offset(share=share.parse(value))
        count = size.parse(value)
    except PydanticCustomError:
        count = -1
    if count < 0:
        raise PydanticCustomError(
            "offset",
            "not a place in an answer",
            {"hint": "after so many bytes, such as 10KiB, or a share, such as 50%"},
        )
    return Offset(count=count)


def text(offset: Offset) -> int | float:
    """A number of bytes, or a share as a fraction."""
    return offset.count if offset.count is not None else float(offset.share or 0.0)


After = Annotated[
    Offset,
    PlainValidator(parse, json_schema_input_type=int | float | str),
    PlainSerializer(text, return_type=int | float, when_used="json"),
]
