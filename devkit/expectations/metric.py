"""Whether the pipeline's metrics endpoint shows a metric: what a dashboard that asks for it would get, or its blank.

One exists that is on the last page of some process: one that was there and has gone has vanished. One is missing that
was on no page of the arm. Without a page that could be read it cannot be judged.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from devkit.expectations.base import NOTHING, Finding
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.metrics import Labels, Scraped, Series
from devkit.observe.observable import Observable
from located_config.count import counted
from located_config.near import nearest

_SHOWN = 3


MetricName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")]


class MetricPattern(BaseModel):
    """`name` as a query asks for it, a counter's with its `_total`; each of `labels` has that value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: MetricName = Field(description="Name of the metric as a query asks for it, a counter's with its `_total`.")
    labels: dict[str, str] = Field(
        default={}, description="Labels that a series must have, with their values; it may have others."
    )

    def __str__(self) -> str:
        return _shown(self.name, frozenset(self.labels.items()))

    def matches(self, series: Series) -> bool:
        """Whether name and labels are those of the pattern; the series may have further labels."""
        name, labels = series
        return name == self.name and self.labels.items() <= labels


class RisingMetric(MetricPattern):
    """`above`: some page shows more than that."""

    above: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="Value that some page exceeds. Default: any value will do."
    )

    def __str__(self) -> str:
        return super().__str__() + ("" if self.above is None else f" above {self.above:g}")


@dataclass(frozen=True)
class _Metric:
    name: Literal["metric_exists", "metric_missing"]
    argument: Any
    summary: str
    example: str
    needs: frozenset[Observable] = NOTHING

    def judge(self, argument: MetricPattern, observation: ArmObservation) -> Finding:
        scraped = observation.metrics
        expected = f"no {argument}" if self.name == "metric_missing" else str(argument)
        if not scraped.pages:
            return Finding(self.name, expected, no_page(scraped), holds=None)
        seen = [series for series in scraped.highest if argument.matches(series)]
        measured = _measured(seen, scraped) if seen else f"not on any of {_pages(scraped)}{_nearest(argument, scraped)}"
        if self.name == "metric_missing":
            return Finding(self.name, expected, measured, not seen)
        above = argument.above if isinstance(argument, RisingMetric) else None
        stands = [series for series in seen if series in scraped.present]
        holds = any(above is None or scraped.highest[series] > above for series in stands)
        figures = () if above is None or not stands else (_bounded(above, [scraped.highest[one] for one in stands]),)
        return Finding(self.name, expected, measured, holds, figures=figures)

    def depends_on_time(self, argument: MetricPattern, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """How high a metric rises may; that it is there does not."""
        rises = isinstance(argument, RisingMetric) and argument.above is not None and argument.above > 0
        return "arm" if rises else None


def _bounded(above: float, highest: list[float]) -> BoundedFigure:
    return BoundedFigure(value=max(highest), at_least=above)


def no_page(scraped: Scraped) -> str:
    """What is measured where no page could be read."""
    return f"n/a: no page of metrics was read ({scraped.failed or 'the pipeline said of none'})"


def _measured(seen: list[Series], scraped: Scraped) -> str:
    highest = max(seen, key=lambda series: (scraped.highest[series], series[0], sorted(series[1])))
    gone = "" if any(series in scraped.present for series in seen) else ", and gone from the last"
    more = f" and {len(seen) - 1} more" if len(seen) > 1 else ""
    return f"{_shown(*highest)}{more}, at most {scraped.highest[highest]:g} on {_pages(scraped)}{gone}"


def _pages(scraped: Scraped) -> str:
    return counted(scraped.pages, "page")


def _nearest(argument: MetricPattern, scraped: Scraped) -> str:
    """What the endpoint has instead: the name with other labels, or a name that is nearly the same."""
    others = sorted(_shown(*series) for series in scraped.highest if series[0] == argument.name)
    if others:
        return f"; there is {', '.join(others[:_SHOWN])}{', …' if len(others) > _SHOWN else ''}"
    near = nearest(argument.name, sorted({name for name, _labels in scraped.highest}))
    return f"; next to it is {near}" if near else ""


def _shown(name: str, labels: Labels) -> str:
    inside = ", ".join(f'{label}="{value}"' for label, value in sorted(labels))
    return f"{name}{{{inside}}}" if inside else name


METRIC_EXISTS = _Metric(
    "metric_exists",
    RisingMetric,
    (
        "The program's metrics endpoint still shows the metric on the last page of some process, and on some "
        "page more than `above`. `name` is as a query asks for it, and each of `labels` has the given value. "
        "It needs `pipeline.metrics.port`."
    ),
    '{name: enrichment_lag_seconds, labels: {partition: "0"}, above: 2}',
)
METRIC_MISSING = _Metric(
    "metric_missing",
    MetricPattern,
    (
        "No page of the program's metrics endpoint shows the metric. Another arm has to expect it by "
        "`metric_exists`, so that no misspelt name passes."
    ),
    "{name: enrichment_breaker_open}",
)
