"""Growth as one number: the exponent e of cost = c · n^e, fitted through measured points; 0 is flat, 1 is linear."""

import math
import statistics
from collections.abc import Mapping


def exponent(costs: Mapping[int, float], *, least: int = 1) -> float:
    """Of costs by size, of the sizes from `least` on: below it a fixed cost may hide the growth. Two points or more."""
    points = {math.log(n): math.log(cost) for n, cost in costs.items() if n >= least and cost > 0}
    return statistics.linear_regression(list(points), list(points.values())).slope


def error(forecast: float, measured: float) -> float:
    """By how much of what was measured the model says too much (or, negative, too little)."""
    return forecast / measured - 1
