"""A rate of events on a command line, as a scenario's file has it: `20/s`, or the number a second."""

from typing import Any, Final

import click

from located_config.rate import parse_rate

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
