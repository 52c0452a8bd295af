"""What a figure was over the time of an arm, and the one number that an expectation makes of it."""

from bisect import bisect_right
from collections.abc import Iterable
from statistics import linear_regression
from typing import Literal

Point = tuple[float, float]
"""Seconds from the arm's start, and the value then."""
Course = tuple[Point, ...]

Of = Literal["last", "highest", "lowest", "mean", "slope"]
FEWEST = 5
"""Fewer points than that have no slope."""


def figure(course: Course, of: Of) -> float | None:
    """None where the points are too few: none at all, or fewer than `FEWEST` for a slope, which is a minute's."""
    values = [value for _, value in course]
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
            times = [at_s for at_s, _ in course]
            return 60 * linear_regression(times, values).slope if len({*times}) >= FEWEST else None


def between(course: Course, from_s: float, to_s: float) -> Course:
    """The points within these times, both included."""
    return tuple(point for point in course if from_s <= point[0] <= to_s)


def waiting(spans: Iterable[tuple[float, float | None]], looks: Iterable[float]) -> Course:
    """How many of the spans lie over each of the looks; one without an end lasts."""
    known = list(spans)
    begins = sorted(begin for begin, _ in known)
    ends = sorted(end for _, end in known if end is not None)
    return tuple((at_s, float(bisect_right(begins, at_s) - bisect_right(ends, at_s))) for at_s in looks)
