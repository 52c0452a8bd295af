"""A figure over the time of an arm, and the one number that an expectation makes of it."""

from bisect import bisect_right
from collections.abc import Iterable
from statistics import linear_regression
from typing import Literal

Point = tuple[float, float]
"""Seconds from the arm's start, and the value then."""
TimeSeries = tuple[Point, ...]

Of = Literal["last", "highest", "lowest", "mean", "slope"]
FEWEST = 5
"""A slope needs this number of points."""


def figure(series: TimeSeries, of: Of) -> float | None:
    """The slope is that of a minute. None without points, and for a slope of fewer than `FEWEST`."""
    values = [value for _, value in series]
    if not values:
        return None
    match of:
        case "last":
            return values[-1]
        case "highest":
            return max(values)
        case "lowest":
            return min(values)
        case "mean":
            return sum(values) / len(values)
        case "slope":
            times = [at_s for at_s, _ in series]
            return 60 * linear_regression(times, values).slope if len({*times}) >= FEWEST else None


def between(series: TimeSeries, from_s: float, to_s: float) -> TimeSeries:
    """The points within these times, both included."""
    return tuple(point for point in series if from_s <= point[0] <= to_s)


def waiting(spans: Iterable[tuple[float, float | None]], times_s: Iterable[float]) -> TimeSeries:
    """The number of spans that are open at each of these times; a span without an end stays open."""
    known = list(spans)
    begins = sorted(begin for begin, _ in known)
    ends = sorted(end for _, end in known if end is not None)
    return tuple((at_s, float(bisect_right(begins, at_s) - bisect_right(ends, at_s))) for at_s in times_s)
