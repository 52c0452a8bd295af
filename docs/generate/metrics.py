"""The metrics that a job serves."""

from docs.generate.markdown import code, page, table
from pipeline.metrics.catalogue import METRICS

_INTRODUCTION = """\
The driver of a job serves these to Prometheus if `metrics.port` is set; [Metrics](../metrics.md) explains them and
shows queries. A histogram has series with `_bucket`, `_sum` and `_count` after its name. `lane` is `main` or `slow`
(deferred events)."""


def metrics() -> str:
    """Every metric, in the catalogue's order."""
    rows = [
        (code(metric.sample_name), metric.kind, ", ".join(map(code, metric.labels)), metric.help) for metric in METRICS
    ]
    buckets = sorted({bound for metric in METRICS for bound in metric.bounds})
    return page(
        "Metrics",
        _INTRODUCTION,
        table(("metric", "kind", "labels", "what it measures"), rows),
        f"The buckets of every histogram end at {', '.join(f'{bound:g}' for bound in buckets)} seconds.",
    )
