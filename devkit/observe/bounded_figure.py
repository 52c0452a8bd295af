"""A measured figure and the bounds that an expectation puts on it."""

from pydantic import BaseModel, ConfigDict

_UNITS = {"share": ("%", 100.0), "bytes": ("MiB", 1 / (1 << 20))}
"""What a person reads in place of the unit, and the factor to it."""


class BoundedFigure(BaseModel):
    """`unit` is that of all three numbers: "s", "bytes", "share" (of 1), "/s", or "" for a plain number. `name` tells
    several figures of one expectation apart; it is empty where there is only one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""
    name: str = ""

    @property
    def margin(self) -> float | None:
        """Distance to the nearer bound as a share of that bound, below 0 beyond it. None where no value but the bound
        itself is admitted, and where the bound is 0: there is no distance to speak of.
        """
        if self.at_least is not None and self.at_least == self.at_most:
            return None
        margins = [(self.value - self.at_least) / abs(self.at_least)] if self.at_least else []
        margins += [(self.at_most - self.value) / abs(self.at_most)] if self.at_most else []
        return min(margins, default=None)


def format_figure(value: float, unit: str) -> str:
    """With four significant digits and its unit: `12.35s`, `31.2%`."""
    shown, factor = _UNITS.get(unit, (unit, 1.0))
    number = value * factor
    return f"{number:.0f}{shown}" if abs(number) >= 1000 else f"{number:.4g}{shown}"


def format_bounds(at_least: float | None, at_most: float | None, unit: str) -> str:
    """`at least 20`, or both, or the value alone where they are the same."""
    if at_least is not None and at_least == at_most:
        return format_figure(at_least, unit)
    parts = [] if at_least is None else [f"at least {format_figure(at_least, unit)}"]
    parts += [] if at_most is None else [f"at most {format_figure(at_most, unit)}"]
    return " and ".join(parts)
