"""Which metric is reported under which name, and a name stands for one metric.

The lesson: two metrics had one name, one of them was silently not reported, and its dashboards went blank. So a name
used twice ends the start of the job, unless an incident's policy drops the later one.
"""

from collections.abc import Iterable, Mapping

from located_config.near import near_miss
from pipeline.config.pipeline_config import Metrics
from pipeline.errors import RefusedError
from pipeline.metrics.catalogue import METRICS, Metric


def names_of(settings: Metrics, metrics: Iterable[Metric] = METRICS) -> Mapping[str, Metric]:
    """Every metric that is reported by its name. Raises RefusedError for a name used twice, or an unknown one."""
    metrics = tuple(metrics)
    _check_renamed(settings.rename, [metric.name for metric in metrics])
    named: dict[str, Metric] = {}
    taken: dict[str, Metric] = {}
    for metric in metrics:
        name = settings.rename.get(metric.name, metric.name)
        series = {name, *metric.series(name)}
        first = next((taken[one] for one in sorted(series) if one in taken), None)
        if first is None:
            named[name] = metric
            taken |= dict.fromkeys(series, metric)
        elif settings.on_collision == "refuse":
            raise RefusedError(
                f"two metrics of one name: {first.name} and {metric.name} would both be reported as {name}",
                hint="give one of them another name in metrics.rename",
            )
    return named


def _check_renamed(renamed: Mapping[str, str], known: list[str]) -> None:
    for name in renamed:
        if name not in known:
            raise RefusedError(f"metrics.rename: there is no metric {name!r}", hint=near_miss(name, known))
