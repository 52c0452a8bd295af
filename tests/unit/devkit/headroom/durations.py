"""All durations in a model, in order."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pydantic import BaseModel


def durations(value: Any) -> Iterator[timedelta]:
    if isinstance(value, timedelta):
        yield value
    elif isinstance(value, BaseModel):
        # What it does not show has no effect.
        effective = value.model_dump(warnings=False).keys() | value.model_fields_set
        for name, one in value:
            if name in effective:
                yield from durations(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from durations(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from durations(one)
