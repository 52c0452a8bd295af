"""Whether memory is flat: the slope of a line through it, after warm-up, with an interval.

Samples that follow one another are alike, so they are first put together into stretches, and the interval is that of
the stretches: 95 % by Student's t.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# A driver keeps a little of every batch for a while; what fills a container in days is more than that.
_MATTERS = 0.01
# Of Student's t, two-sided 95 %, by degrees of freedom; beyond the last the normal distribution's.
_T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 8: 2.31, 10: 2.23, 15: 2.13, 20: 2.09, 30: 2.04}


@dataclass(frozen=True)
class Slope:
    """In the samples' unit an hour; the interval is `slope` ± `half_width`. `level` is the mean."""

    slope: float
    half_width: float
    level: float

    @property
    def is_flat(self) -> bool:
        """Whether no growth is seen that matters: the interval reaches below a hundredth of the level an hour."""
        return self.slope - self.half_width <= _MATTERS * self.level


def slope(at_s: Sequence[float], values: Sequence[float], *, warm_up_s: float, stretches: int = 20) -> Slope | None:
    """Of the samples after `warm_up_s`; None when they are too few."""
    after = [(at, value) for at, value in zip(at_s, values, strict=True) if at >= warm_up_s]
    if len(after) < 3 * 2:
        return None
    count = min(stretches, len(after) // 2)
    size = len(after) / count
    parts = [after[round(n * size) : round((n + 1) * size)] for n in range(count)]
    hours = [statistics.fmean(at for at, _ in part) / 3600 for part in parts]
    means = [statistics.fmean(value for _, value in part) for part in parts]
    line = statistics.linear_regression(hours, means)
    rest = [mean - line.intercept - line.slope * hour for hour, mean in zip(hours, means, strict=True)]
    middle = statistics.fmean(hours)
    spread = sum((hour - middle) ** 2 for hour in hours)
    error = math.sqrt(sum(one * one for one in rest) / (count - 2) / spread)
    return Slope(line.slope, _t95(count - 2) * error, statistics.fmean(means))


def _t95(freedom: int) -> float:
    """The next lower one that is known: a little too wide rather than too narrow."""
    if freedom > max(_T95):
        return 1.96
    return next(_T95[known] for known in sorted(_T95, reverse=True) if known <= freedom)
