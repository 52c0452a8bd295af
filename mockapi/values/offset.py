"""A place in an answer as people write it in a file: after `10KiB`, or after `50%` of it."""

from typing import Annotated

from pydantic import PlainSerializer, PlainValidator
from pydantic_core import PydanticCustomError

from located_config.quantity import QuantityError
from located_config.share import Share, parse_share
from located_config.size import Size, parse_size
from mockapi.server.delivery import Offset


def parse(value: object) -> Offset:
    """A number of bytes, which is what a whole number is, or a share. Raises PydanticCustomError for all else."""
    if isinstance(value, Offset):
        return value
    try:
        return Offset(count=parse_size(value))
    except QuantityError:
        pass
    try:
        return Offset(share=parse_share(value))
    except QuantityError:
        raise PydanticCustomError(
            "offset", "not a place in an answer", {"hint": "a number of bytes, such as 10KiB, or a share, such as 50%"}
        ) from None


def text(offset: Offset) -> int | float:
    """A number of bytes, or a share as a fraction."""
    return offset.count if offset.count is not None else float(offset.share or 0.0)


After = Annotated[
    Offset,
    PlainValidator(parse, json_schema_input_type=Size | Share),
    PlainSerializer(text, return_type=int | float, when_used="json"),
]
