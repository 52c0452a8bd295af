"""Samples of a machine's slowdown, and the mean over any window of them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

SHORTEST_S = 5.0
"""A window shorter than this is judged as one of this length: a handful of quanta says nothing of a second."""


class HeadroomSample(BaseModel):
    """How short of time the machine was for a while.

    It is a line of the timeline as well, written and read back as this model.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["headroom"] = "headroom"
    from_s: float
    """Where it begins, in seconds of the run or of an arm."""
    to_s: float
    """Where it ends, in seconds of the run or of an arm."""
    slowdown: float
    """How many times slower than a free core of it the machine was."""
    core: float = 1.0
    """How much of that comes from slow cores."""
    pressure: float | None = None
    """Share of the time in which tasks waited for a core; null where it cannot be measured."""
    others_cores: float | None = None
    """Cores that processes used which are neither the run's nor its faults'."""
    fault_share: float = 0.0
    """Share of the used processor time that the scenario's own faults took."""

    @property
    def without_faults(self) -> "HeadroomSample":
        """As it would have been had the scenario's faults not loaded the machine: a task waits while others are at
        work, and so for as large a share of its wait for those of the faults as they are of the work.
        """
        waited = max(0.0, self.slowdown - self.core) * (1 - self.fault_share)
        return self.model_copy(update={"slowdown": min(self.slowdown, self.core + waited)})


@dataclass(frozen=True)
class Slow:
    """The slowdown between two moments."""

    from_s: float
    to_s: float
    slowdown: float


def over(samples: Sequence[HeadroomSample], from_s: float, to_s: float) -> float | None:
    """The slowdown between two moments; None where nothing was sampled there."""
    overlaps = [
        (min(sample.to_s, to_s) - max(sample.from_s, from_s), sample)
        for sample in samples
        if sample.to_s > from_s and sample.from_s < to_s
    ]
    length_s = sum(seconds for seconds, _ in overlaps)
    return sum(seconds * sample.slowdown for seconds, sample in overlaps) / length_s if length_s > 0 else None


def worst(samples: Sequence[HeadroomSample], length_s: float) -> Slow | None:
    """The slowest window of a length; all of the samples where they are shorter, None where there are none."""
    if not samples:
        return None
    begin_s, end_s = samples[0].from_s, samples[-1].to_s
    length_s = max(length_s, SHORTEST_S)
    if end_s - begin_s <= length_s:
        slowdown = over(samples, begin_s, end_s)
        return None if slowdown is None else Slow(begin_s, end_s, slowdown)
    # The sum grows by straight pieces, so the window with the most begins or ends where a piece does.
    edges = {edge for sample in samples for edge in (sample.from_s, sample.to_s)}
    begins = {edge for edge in edges if edge + length_s <= end_s}
    begins |= {edge - length_s for edge in edges if edge - length_s >= begin_s}
    summed = _Summed(samples)
    most = max(sorted(begins), key=lambda at_s: summed.until(at_s + length_s) - summed.until(at_s))
    return Slow(most, most + length_s, (summed.until(most + length_s) - summed.until(most)) / length_s)


class _Summed:
    """The slowdown summed over the time until a moment; between samples it is as if free."""

    def __init__(self, samples: Sequence[HeadroomSample]) -> None:
        self._at: list[float] = []
        self._sum: list[float] = []
        for at_s, total in _corners(samples):
            self._at.append(at_s)
            self._sum.append(total)

    def until(self, at_s: float) -> float:
        right = bisect_right(self._at, at_s)
        if right == 0:
            return self._sum[0] + at_s - self._at[0]
        if right == len(self._at):
            return self._sum[-1] + at_s - self._at[-1]
        (begin, end), (before, after) = self._at[right - 1 : right + 1], self._sum[right - 1 : right + 1]
        return before + (after - before) * (at_s - begin) / (end - begin)


def _corners(samples: Sequence[HeadroomSample]) -> Iterable[tuple[float, float]]:
    at_s, total = samples[0].from_s, 0.0
    yield at_s, total
    for sample in samples:
        if sample.from_s > at_s:
            total += sample.from_s - at_s
            yield sample.from_s, total
        if sample.to_s <= max(at_s, sample.from_s):
            continue
        total += (sample.to_s - max(at_s, sample.from_s)) * sample.slowdown
        at_s = sample.to_s
        yield at_s, total
