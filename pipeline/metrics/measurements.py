"""Measurements that add up: what a task measured, and the sum of all tasks'.

Counts and histograms are added. A level (memory, requests at once) is that of all workers which ran the newest stage:
of each worker the highest, and these added. Spark numbers stages as they begin, so no clock is asked which is newer.
"""

import threading
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.metrics.catalogue import Metric

Key = tuple[str, tuple[str, ...]]
"""A metric's name and the values of its labels, without the lane."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """`counts` for each bucket by itself, the one without an upper end last; `total` is the sum of all values."""

    counts: tuple[int, ...]
    total: float

    def plus(self, other: "Histogram") -> "Histogram":
        """Bucket by bucket. Raises ValueError when the two have a different number of buckets."""
        added = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Histogram(added, self.total + other.total)


@dataclass(frozen=True, slots=True)
class Origin:
    """The process in which a level was measured, and the Spark stage of its task."""

    stage: int
    worker: str


HERE = Origin(0, "")
"""In this process, and in no task."""


@dataclass(frozen=True)
class Measurements:
    """Never changed, so that one thread may read them while another makes the next."""

    counts: Mapping[Key, float] = field(default_factory=dict)
    histograms: Mapping[Key, Histogram] = field(default_factory=dict)
    levels: Mapping[Key, Mapping[Origin, float]] = field(default_factory=dict)

    def plus(self, other: "Measurements", *, stages: int = 1) -> "Measurements":
        """Both; neither their order nor how they are grouped makes a difference, but for rounding. Of a level the
        newest `stages` are kept, as that number of them may run at once.
        """
        counts = dict(self.counts)
        for key, count in other.counts.items():
            counts[key] = counts.get(key, 0) + count
        histograms = dict(self.histograms)
        for key, histogram in other.histograms.items():
            histograms[key] = histograms[key].plus(histogram) if key in histograms else histogram
        levels = dict(self.levels)
        for key, measured in other.levels.items():
            levels[key] = _newest(levels.get(key, {}), measured, stages)
        return Measurements(counts, histograms, levels)

    def measured_in(self, origin: Origin) -> "Measurements":
        """The same, as those of a task."""
        return Measurements(
            self.counts, self.histograms, {key: {origin: max(of.values())} for key, of in self.levels.items()}
        )

    def level(self, key: Key) -> float:
        """The sum over all workers, each in its newest stage. Raises KeyError for a level that was not measured."""
        by_worker = {origin.worker: value for origin, value in sorted(self.levels[key].items(), key=_by_stage)}
        return sum(by_worker.values())


def _newest(first: Mapping[Origin, float], second: Mapping[Origin, float], stages: int) -> Mapping[Origin, float]:
    both = {
        origin: max(values[origin] for values in (first, second) if origin in values) for origin in {*first, *second}
    }
    newest = sorted({origin.stage for origin in both})[-stages:]
    return {origin: value for origin, value in both.items() if origin.stage in newest}


def _by_stage(item: tuple[Origin, float]) -> int:
    return item[0].stage


class MeasurementsParam:
    """Adds measurements; Spark's AccumulatorParam, but not derived from it; `pipeline.worker.task_results` says why.

    `stages` is the number of them that run at once.
    """

    def __init__(self, stages: int = 1) -> None:
        self._stages = stages

    def zero(self, value: Measurements) -> Measurements:  # noqa: ARG002 — the interface is Spark's
        """No measurements, whatever `value` has: what a task begins with."""
        return Measurements()

    def addInPlace(self, value1: Measurements, value2: Measurements) -> Measurements:  # noqa: N802
        """A new object, neither of the two; Spark takes what is returned."""
        return value1.plus(value2, stages=self._stages)


class Recorder:
    """Collects the measurements of this process; any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._raised: dict[Key, float] = {}
        self._clear()

    def count(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """Add to a counter; `labels` are values, in the order in which the metric names them."""
        key = (metric.name, labels)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + by

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        """Add to a histogram."""
        key = (metric.name, labels)
        with self._lock:
            if key not in self._histograms:
                self._histograms[key] = [0] * (len(metric.bounds) + 1)
                self._totals[key] = 0.0
            self._histograms[key][bisect_left(metric.bounds, seconds)] += 1
            self._totals[key] += seconds

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Set a gauge."""
        with self._lock:
            self._levels[metric.name, labels] = value

    def forget(self, metric: Metric) -> None:
        """Report no level of the metric until one is set."""
        with self._lock:
            for key in [key for key in self._levels if key[0] == metric.name]:
                del self._levels[key]

    def peak(self, metric: Metric, value: float, *labels: str) -> None:
        """The figure is the highest value since the last `drain`."""
        key = (metric.name, labels)
        with self._lock:
            self._peaks[key] = max(self._peaks.get(key, value), value)

    def raise_(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """Something more is there; the figure is the most that there was at once. A negative `by` takes it back."""
        key = (metric.name, labels)
        with self._lock:
            present = self._raised[key] = self._raised.get(key, 0) + by
            self._peaks[key] = max(self._peaks.get(key, 0), present)

    def measurements(self) -> Measurements:
        """Everything that was collected since the last `drain`."""
        with self._lock:
            return self._frozen()

    def drain(self) -> Measurements:
        """The same, and begin anew; what is still raised counts from now on."""
        with self._lock:
            measurements = self._frozen()
            self._clear()
            return measurements

    def _frozen(self) -> Measurements:
        levels = {key: {HERE: value} for key, value in (self._levels | self._peaks).items()}
        histograms = {key: Histogram(tuple(counts), self._totals[key]) for key, counts in self._histograms.items()}
        return Measurements(dict(self._counts), histograms, levels)

    def _clear(self) -> None:
        self._counts: dict[Key, float] = {}
        self._histograms: dict[Key, list[int]] = {}
        self._totals: dict[Key, float] = {}
        self._levels: dict[Key, float] = {}
        self._peaks: dict[Key, float] = {key: value for key, value in self._raised.items() if value > 0}
