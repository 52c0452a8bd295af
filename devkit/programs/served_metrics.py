"""The metrics that a program of the project serves, by what its configuration says."""

from collections.abc import Iterable, Mapping

from devkit.programs.program import ServedMetrics
from pipeline.metrics.catalogue import Metric


def served_metrics(metrics: Iterable[Metric], rename: Mapping[str, str]) -> ServedMetrics:
    """The labels of each series; where two metrics have one name, those of both. `rename` has new names by name."""
    served: dict[str, frozenset[str]] = {}
    for metric in metrics:
        for series in metric.series(rename.get(metric.name, metric.name)):
            bounds = ("le",) if series.endswith("_bucket") else ()
            served[series] = served.get(series, frozenset()).union(metric.labels, bounds)
    return served
