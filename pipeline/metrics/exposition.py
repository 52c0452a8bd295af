"""Measurements as Prometheus sees them: one family for each metric that is reported, in the catalogue's order.

A counter or histogram without labels but the lane is always there, with 0 before anything was counted. One whose labels
are not known before they occur, and a level that was not measured yet, begin to exist with their first value.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family

from pipeline.metrics.catalogue import Metric
from pipeline.metrics.measurements import Histogram, Key, Measurements

V = TypeVar("V")


Part = tuple[tuple[str, ...], Measurements]
"""Measurements, and the labels that all of them have first: the lane, or none."""


def families(
    metrics: Mapping[str, Metric], driver: Measurements, lanes: Mapping[str, Measurements]
) -> Iterator[Family]:
    """`lanes` are the workers' measurements by lane."""
    of_driver: list[Part] = [((), driver)]
    of_workers: list[Part] = [((lane,), measurements) for lane, measurements in lanes.items()]
    for name, metric in metrics.items():
        parts = of_workers if metric.of_worker else of_driver
        match metric.kind:
            case "counter":
                yield _counter(name, metric, parts)
            case "gauge":
                yield _gauge(name, metric, parts)
            case "histogram":
                yield _histogram(name, metric, parts)


def _counter(name: str, metric: Metric, parts: list[Part]) -> Family:
    family = CounterMetricFamily(name, metric.help, labels=metric.labels)
    for first, measurements in parts:
        for labels, value in _values(metric, first, measurements.counts, 0.0):
            family.add_metric([*first, *labels], value)
    return family


def _gauge(name: str, metric: Metric, parts: list[Part]) -> Family:
    family = GaugeMetricFamily(name, metric.help, labels=metric.labels)
    for first, measurements in parts:
        for labels, _ in _values(metric, first, measurements.levels, None):
            family.add_metric([*first, *labels], measurements.level((metric.name, labels)))
    return family


def _histogram(name: str, metric: Metric, parts: list[Part]) -> Family:
    family = HistogramMetricFamily(name, metric.help, labels=metric.labels)
    ends = [*map(str, metric.bounds), "+Inf"]
    for first, measurements in parts:
        for labels, value in _values(metric, first, measurements.histograms, Histogram((0,) * len(ends), 0.0)):
            buckets = list(zip(ends, accumulate(value.counts), strict=True))
            family.add_metric([*first, *labels], buckets=buckets, sum_value=value.total)
    return family


def _values(
    metric: Metric, first: tuple[str, ...], measurements: Mapping[Key, V], nothing: V | None
) -> list[tuple[tuple[str, ...], V]]:
    """The metric's values by its other labels; `nothing` for one that has no others, and has not occurred."""
    values = {key[1]: value for key, value in measurements.items() if key[0] == metric.name}
    if nothing is not None and len(metric.labels) == len(first):
        values.setdefault((), nothing)
    return sorted(values.items(), key=lambda item: item[0])
