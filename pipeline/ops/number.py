"""Fractions on a command line: a range alone lets `nan` through, which is neither below it nor above."""

import math
from typing import Any

import click


class Number(click.FloatRange):
    """Between its bounds, and a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises BadParameter outside the bounds, and for `nan` and `inf`."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number
