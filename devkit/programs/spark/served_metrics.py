"""The metrics that the pipeline serves, by what its configuration says."""

from devkit.programs.program import ServedMetrics
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.metrics.catalogue import METRICS


def served_metrics(config: PipelineConfig) -> ServedMetrics:
    """The labels of each series; where two metrics have one name, those of both."""
    served: dict[str, frozenset[str]] = {}
    for metric in METRICS:
        for series in metric.series(config.metrics.rename.get(metric.name, metric.name)):
            bounds = ("le",) if series.endswith("_bucket") else ()
            served[series] = served.get(series, frozenset()).union(metric.labels, bounds)
    return served
