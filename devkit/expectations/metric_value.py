"""What a metric of the program's own endpoint showed over the arm: `metric: {name: …, of: slope, at_most: 10}`.

The series that match are summed, as a query would; so a counter's labels need not be named. A process that is started
again begins its counters anew.
"""

from dataclasses import dataclass
from typing import Any

from devkit.expectations.base import NOTHING, Finding
from devkit.expectations.bounds import Number
from devkit.expectations.metric import MetricPattern, no_page
from devkit.expectations.of_samples import OfSamples, judged, value_of
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.course import Course
from devkit.observe.observable import Observable


class MetricValue(Number, OfSamples, MetricPattern):
    """Bounds on a number of the course of a metric."""

    def __str__(self) -> str:
        return f"{self.number} of {MetricPattern.__str__(self)} {Number.__str__(self)}"


@dataclass(frozen=True)
class _MetricValue:
    name: str = "metric"
    summary: str = (
        "A metric of the program's endpoint: its `last`, `highest`, `lowest` or `mean` value, or its `slope` a minute. "
        "Series that match `name` and `labels` are summed. It needs `pipeline.metrics.port`."
    )
    example: str = "{name: enrichment_lag_events, of: slope, at_least: 100}"
    argument: Any = MetricValue
    needs: frozenset[Observable] = NOTHING

    def judge(self, argument: MetricValue, observation: ArmObservation) -> Finding:
        scraped = observation.metrics
        if not scraped.pages:
            return Finding(self.name, str(argument), no_page(scraped), holds=None)
        return judged(self.name, argument, _found(argument, observation), "{:g}".format)

    def figure(self, argument: MetricValue, observation: ArmObservation) -> float | None:
        """None where there was nothing to measure."""
        return _found(argument, observation)[0]

    def depends_on_time(self, argument: MetricValue, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """How high a metric comes, and how fast, does."""
        return "arm"


def _found(argument: MetricValue, observation: ArmObservation) -> tuple[float | None, str]:
    return value_of(argument, _course(argument, observation), observation)


def _course(argument: MetricValue, observation: ArmObservation) -> Course:
    sums: dict[float, float] = {}
    for series, course in observation.metrics.courses.items():
        if argument.matches(series):
            for at_s, value in course:
                sums[at_s] = sums.get(at_s, 0.0) + value
    return tuple(sorted(sums.items()))


METRIC = _MetricValue()
