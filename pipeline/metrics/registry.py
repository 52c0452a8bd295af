"""Which metric is reported under which name, and a name stands for one metric.

The lesson: two metrics had one name, one of them was silently not reported, and its dashboards went blank. So a name
used twice ends the start of the job, unless an incident's policy drops the later one. Another release renamed a metric
that was watched, with the same blank dashboard: what is required by name is looked for at the start as well.
"""

from collections.abc import Iterable, Mapping

from located_config.near import near_miss
from pipeline.config.pipeline_config import Metrics
from pipeline.errors import RefusedError
from pipeline.metrics.catalogue import METRICS, Metric


def names_of(settings: Metrics, metrics: Iterable[Metric] = METRICS) -> Mapping[str, Metric]:
    """Every metric that is reported by its name. Raises RefusedError for a name used twice, for an unknown one, and for
    one that is required and not reported.
    """
    metrics = tuple(metrics)
    _check_renamed(settings.rename, [metric.name for metric in metrics])
    named: dict[str, Metric] = {}
    reported_by: dict[str, Metric] = {}
    for metric in metrics:
        name = settings.rename.get(metric.name, metric.name)
        series = {name, *metric.series(name)}
        first_metric = next(
            (reported_by[series_name] for series_name in sorted(series) if series_name in reported_by), None
        )
        if first_metric is None:
            named[name] = metric
            reported_by |= dict.fromkeys(series, metric)
        elif settings.on_collision == "refuse":
            raise RefusedError(
                f"two metrics of one name: {first_metric.name} and {metric.name} would both be reported as {name}",
                hint="give one of them another name in metrics.rename",
            )
    _check_required(settings, named)
    return named


def _check_renamed(renamed: Mapping[str, str], known: list[str]) -> None:
    for name in renamed:
        if name not in known:
            raise RefusedError(f"metrics.rename: there is no metric {name!r}", hint=near_miss(name, known))


def _check_required(settings: Metrics, named: Mapping[str, Metric]) -> None:
    reported = {series_name for name, metric in named.items() for series_name in (name, *metric.series(name))}
    for name in settings.required:
        if name in reported:
            continue
        renamed = next(
            (f"metrics.rename reports {old} as {new}" for old, new in settings.rename.items() if name.startswith(old)),
            None,
        )
        raise RefusedError(
            f"metrics.required: no metric is reported as {name}" + (f": {renamed}" if renamed else ""),
            hint="rename it in the dashboards and alerts that ask for it and in metrics.required, or report it by that "
            "name"
            if renamed
            else near_miss(name, sorted(reported)),
        )
