"""The metrics that the pipeline serves in an arm, by what its configuration says, and names that are not among them."""

from collections.abc import Iterator, Mapping

from devkit.expectations.metric import MetricPattern
from located_config.near import near_miss, nearest
from located_config.place import Location
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.metrics.catalogue import METRICS

Labels = Mapping[str, frozenset[str]]


def check_metric(wanted: MetricPattern, served: Labels) -> Iterator[tuple[Location, str]]:
    """What is wrong with a name or label that the pipeline does not serve, behind the key where it stands."""
    labels = served.get(wanted.name)
    if labels is None:
        with_ending = (f"{wanted.name}{ending}" for ending in ("_total", "_count"))
        near = next((one for one in with_ending if one in served), None) or nearest(wanted.name, served)
        known = (
            f"did you mean {near!r}?" if near else "docs/reference/metrics.md lists all, `metrics.rename` renames one"
        )
        yield ("name",), f"the pipeline serves no metric {wanted.name!r} in this scenario; {known}"
        return
    for label in wanted.labels.keys() - labels:
        yield ("labels", label), f"{wanted.name} has no label {label!r}; {near_miss(label, sorted(labels))}"


def served_metrics(config: PipelineConfig) -> Labels:
    """The labels of each series; where two metrics have one name, those of both."""
    served: dict[str, frozenset[str]] = {}
    for metric in METRICS:
        for series in metric.series(config.metrics.rename.get(metric.name, metric.name)):
            bounds = ("le",) if series.endswith("_bucket") else ()
            served[series] = served.get(series, frozenset()).union(metric.labels, bounds)
    return served
