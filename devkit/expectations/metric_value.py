"""A metric of the program's endpoint over the arm: `metric: {name: …, of: slope, at_most: 10}`.

Matching series are summed, so a counter's labels need not be named. A restarted process begins its counters anew.
"""

from devkit.expectations.bounds import Number
from devkit.expectations.metric import MetricPattern, check_metric, no_page
from devkit.expectations.series_measure import SeriesArgument, SeriesMeasure
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.time_series import TimeSeries


class MetricValue(Number, SeriesArgument, MetricPattern):
    """Bounds on a number of the course of a metric."""

    def __str__(self) -> str:
        return f"{self.number} of {MetricPattern.__str__(self)} {Number.__str__(self)}"


def _absent(_argument: MetricValue, observation: ArmObservation) -> str:
    return "" if observation.metrics.pages else no_page(observation.metrics)


def _series(argument: MetricValue, observation: ArmObservation) -> TimeSeries:
    sums: dict[float, float] = {}
    for series, points in observation.metrics.courses.items():
        if argument.matches(series):
            for at_s, value in points:
                sums[at_s] = sums.get(at_s, 0.0) + value
    return tuple(sorted(sums.items()))


METRIC = SeriesMeasure(
    name="metric",
    summary=(
        "A metric of the program's endpoint: its `last`, `highest`, `lowest` or `mean` value, or its `slope` a minute. "
        "Series that match `name` and `labels` are summed. It needs `pipeline.metrics.port`."
    ),
    example="{name: enrichment_lag_events, of: slope, at_least: 100}",
    argument=MetricValue,
    series=_series,
    format_value="{:g}".format,
    absent=_absent,
    flaws=check_metric,
)
