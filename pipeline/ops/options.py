"""Types of options of a command line: sizes, rates, finite numbers."""

import math
from typing import Any, Final

import click

from located_config.rate import parse_rate
from located_config.size import parse_size


class SizeParam(click.ParamType[int]):
    """`4GiB` to bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """In bytes. Raises BadParameter for what `parse_size` does not take."""
        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_LEAST_PER_S: Final = 0.001
_MOST_PER_S: Final = 1_000_000


class EventRate(click.ParamType):  # type: ignore[type-arg]  # generic only in the stubs
    """Events a second, from one in 1,000 s to 1,000,000."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """In events a second. Raises BadParameter for what is no rate, or out of bounds."""
        text = str(value)
        try:
            per_s = parse_rate(text if "/" in text else f"{text}/s")
        except ValueError:
            self.fail(f"{text!r} is no rate; write 20/s, 100/min or a number of events a second.", param, ctx)
        if not _LEAST_PER_S <= per_s <= _MOST_PER_S:
            self.fail(f"{text!r} is not between {_LEAST_PER_S:g}/s and {_MOST_PER_S:,}/s.", param, ctx)
        return per_s


class Number(click.FloatRange):
    """Between its bounds, and neither `nan` nor `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises BadParameter outside the bounds, and for `nan` and `inf`."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number
