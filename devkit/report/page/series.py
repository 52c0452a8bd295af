"""Data for plots: rates from counters, shares, and few enough points and spans for a page.

A point is (seconds since the arm began, value); a value of None is a gap.
"""

from collections.abc import Sequence
from itertools import pairwise

from devkit.report.arm_record import Span

Point = tuple[float, float | None]
Points = tuple[Point, ...]

MOST_POINTS = 400
MOST_SPANS = 60
WINDOW_S = 2.0
"""Rates are over this much time: a micro-batch's output arrives at once, and would be a needle otherwise."""


def rate(counter: Sequence[tuple[float, float]], window_s: float = WINDOW_S) -> Points:
    """Increase a second over the `window_s` before each point but the first; a counter that fell has begun anew."""
    points: list[Point] = []
    base = 0
    for index in range(1, len(counter)):
        now_s, now = counter[index]
        while base + 1 < index and counter[base + 1][0] <= now_s - window_s:
            base += 1
        then_s, then = counter[base]
        if now_s > then_s:
            points.append((now_s, max(0.0, now - then) / (now_s - then_s)))
    return tuple(points)


def share(part: Sequence[float], of: Sequence[float], at_s: Sequence[float], window_s: float = WINDOW_S) -> Points:
    """What share of the increase of the counter `of` is `part`'s, over a window; a gap where `of` did not increase.

    The three go together, index by index. A share is between 0 and 1 unless `part` runs ahead of `of`.
    """
    points: list[Point] = []
    base = 0
    for index in range(1, len(at_s)):
        while base + 1 < index and at_s[base + 1] <= at_s[index] - window_s:
            base += 1
        increase = of[index] - of[base]
        points.append((at_s[index], (part[index] - part[base]) / increase if increase > 0 else None))
    return tuple(points)


def thinned(points: Points, most: int = MOST_POINTS) -> Points:
    """At most `most` of the points, in order, among them the first, the last, the lowest and the highest.

    Each stretch of the series keeps its own lowest and highest, so no peak is lost; a stretch with a gap keeps one.
    """
    if len(points) <= most:
        return points
    if most < 5:
        raise ValueError(f"{most} points cannot show a series, at least 5 can")
    inner = points[1:-1]
    stretches = (most - 2) // 3
    kept = [0]
    for number in range(stretches):
        begin, end = len(inner) * number // stretches, len(inner) * (number + 1) // stretches
        known = [(value, index) for index, (_, value) in enumerate(inner[begin:end], begin + 1) if value is not None]
        gap = next((index for index in range(begin + 1, end + 1) if points[index][1] is None), None)
        kept += sorted({index for _, index in ((min(known), max(known)) if known else ())} | ({gap} if gap else set()))
    return tuple(points[index] for index in [*kept, len(points) - 1])


def known(points: Points) -> list[tuple[float, float]]:
    """The points that are no gaps."""
    return [(at_s, value) for at_s, value in points if value is not None]


def joined(spans: Sequence[Span], most: int = MOST_SPANS) -> tuple[Span, ...]:
    """At most `most` spans that cover the given ones, which are in order: the shortest gaps are closed.

    A span that covers several is named like the first of them.
    """
    if len(spans) <= most:
        return tuple(spans)
    gaps = sorted((span.begin_s - before.end_s for before, span in pairwise(spans)), reverse=True)
    narrowest, kept = gaps[most - 2] if most > 1 else float("inf"), most - 1
    merged = [spans[0]]
    for before, span in pairwise(spans):
        if kept and span.begin_s - before.end_s >= narrowest:
            merged.append(span)
            kept -= 1
        else:
            merged[-1] = Span(merged[-1].begin_s, max(merged[-1].end_s, span.end_s), merged[-1].what)
    return tuple(merged)
