"""Percentiles of a histogram, such as the mock keeps of its answer times."""

from collections.abc import Sequence


def difference(now: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    """What was counted since; all of `now` when the counting has begun anew."""
    if len(now) != len(before) or any(a < b for a, b in zip(now, before, strict=True)):
        return tuple(now)
    return tuple(a - b for a, b in zip(now, before, strict=True))


def percentile(share: float, le: Sequence[float], counts: Sequence[int]) -> float | None:
    """The value that `share` (0 to 1) of what was counted does not exceed; None when nothing was.

    `counts[n]` lie above `le[n - 1]` and up to `le[n]`, within which they are taken to be spread evenly; a last count
    without an edge lies above all, and its values are given as the last edge.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, reached, lower = share * total, 0, 0.0
    for edge, count in zip(le, counts, strict=False):
        if count and reached + count >= wanted:
            return lower + (edge - lower) * (wanted - reached) / count
        reached += count
        lower = edge
    return lower
