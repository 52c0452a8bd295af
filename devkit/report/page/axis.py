"""Scales: round ticks, and where a value lies between 0 and 1 of an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Scale(Protocol):
    """An axis of a plot."""

    @property
    def ticks(self) -> tuple[float, ...]:
        """Values, rising, and not yet places on the axis: `at` gives those."""

    def at(self, value: float) -> float:
        """0 at the low end of the axis and 1 at its high end; values beyond are cut off there."""


@dataclass(frozen=True)
class Linear:
    """From zero to `high`."""

    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """In proportion to `high`: 0 below zero, 1 above `high`."""
        return min(1.0, max(0.0, value / self.high))


@dataclass(frozen=True)
class Logarithmic:
    """From `low` to `high`, both above zero; what is not lies at the low end."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """In proportion to the logarithm: 0 up to `low`, zero and below included, 1 above `high`."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))


def linear(highest: float, *, intervals: int = 3, whole: bool = False) -> Linear:
    """An axis from zero to a round number that `highest` does not pass; `whole`: no ticks between whole numbers."""
    step = _round_up(max(highest, 1e-9) / intervals)
    if whole:
        step = max(1.0, step)
    count = max(1, math.ceil(highest / step - 1e-9))
    return Linear(step * count, tuple(round(step * n, 12) for n in range(count + 1)))


def logarithmic(values: Iterable[float]) -> Logarithmic:
    """An axis between round numbers that holds all values above zero.

    Ticks are at powers of ten, or at 1, 2 and 5 times those when they would be fewer than three.
    """
    positive = [value for value in values if value > 0] or [1.0]
    low, high = _round_down(min(positive)), _round_up(max(positive))
    if high <= low * 1.5:
        high = _round_up(low * 2)
    steps = [
        _rounded(factor * 10.0**exponent)
        for exponent in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        for factor in (1, 2, 5)
    ]
    fine = tuple(step for step in steps if low * (1 - 1e-9) <= step <= high * (1 + 1e-9))
    tens = tuple(step for step in fine if math.isclose(math.log10(step), round(math.log10(step)), abs_tol=1e-9))
    return Logarithmic(low, high, tens if len(tens) > 2 else fine)


def time_ticks(duration_s: float, *, intervals: int = 5) -> tuple[float, ...]:
    """Round seconds from 0 up to the duration, the last of them not beyond it."""
    step = _round_up(max(duration_s, 1e-9) / intervals)
    return tuple(round(step * n, 12) for n in range(math.floor(duration_s / step + 1e-9) + 1))


def _round_up(value: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(value))
    return _rounded(next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= value * (1 - 1e-9)))


def _round_down(value: float) -> float:
    """The greatest of 1, 2, 5 times a power of ten that is not above."""
    power = 10.0 ** math.floor(math.log10(value))
    return _rounded(next(factor * power for factor in (5, 2, 1, 0.5) if factor * power <= value * (1 + 1e-9)))


def _rounded(value: float) -> float:
    """Without the last digits' noise."""
    return float(f"{value:.6g}")
