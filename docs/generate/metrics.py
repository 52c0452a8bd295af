"""The metrics that a job serves."""

from collections.abc import Iterable

from docs.generate.markdown import code, page, table
from pipeline.metrics.apply_catalogue import APPLY_METRICS
from pipeline.metrics.catalogue import METRICS, Metric

_INTRODUCTION = """\
The driver of a job serves these to Prometheus if `metrics.port` is set; [Metrics](../metrics.md) explains them and
shows queries. A histogram has series with `_bucket`, `_sum` and `_count` after its name. `lane` is `main` or `slow`
(deferred events)."""

_APPLY = """\
## Metrics of `apply` {#apply}

`python -m pipeline apply` serves these if `metrics.port` is set in its configuration, and none of the others."""
_HEAD = ("metric", "kind", "labels", "what it measures")


def metrics() -> str:
    """Every metric, in the catalogues' order."""
    buckets = sorted({bound for metric in (*METRICS, *APPLY_METRICS) for bound in metric.bounds})
    return page(
        "Metrics",
        _INTRODUCTION,
        table(_HEAD, _rows(METRICS)),
        f"The buckets of every histogram end at {', '.join(f'{bound:g}' for bound in buckets)} seconds.",
        _APPLY,
        table(_HEAD, _rows(APPLY_METRICS)),
    )


def _rows(metrics: Iterable[Metric]) -> list[tuple[str, str, str, str]]:
    return [
        (code(metric.sample_name), metric.kind, ", ".join(map(code, metric.labels)), metric.help) for metric in metrics
    ]
