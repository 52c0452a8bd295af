"""Whether the pipeline's metrics endpoint serves a metric, as a dashboard would query it.

A metric exists if it is on the last page of some process. It is missing if it was on no page of the arm. Without a
readable page the finding is undecided.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramArgument
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.samples.metrics import Labels, Scraped, Series
from devkit.programs.program import ServedMetrics
from located_config.count import counted
from located_config.near import near_miss, nearest
from located_config.place import Location

_SHOWN = 3


MetricName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")]


class MetricPattern(ProgramArgument):
    """`name` as a query asks for it, a counter's with its `_total`; each of `labels` has that value."""

    name: MetricName = Field(description="Name of the metric as a query asks for it, a counter's with its `_total`.")
    labels: dict[str, str] = Field(
        default={}, description="Labels that a series must have, with their values; it may have others."
    )

    def __str__(self) -> str:
        return _format_series(self.name, frozenset(self.labels.items()))

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


@dataclass(frozen=True, kw_only=True)
class _Metric(ExpectationKind):
    name: Literal["metric_exists", "metric_missing"]

    def judge(self, argument: MetricPattern, observation: ArmObservation) -> Finding:
        scraped = observation.metrics
        expected = f"no {argument}" if self.name == "metric_missing" else str(argument)
        if not scraped.pages:
            return Finding(self.name, expected, no_page(scraped), holds=None)
        seen = [series for series in scraped.highest if argument.matches(series)]
        measured = (
            _measured(seen, scraped)
            if seen
            else f"not on any of {_pages(scraped)}{_describe_nearest(argument, scraped)}"
        )
        if self.name == "metric_missing":
            return Finding(self.name, expected, measured, not seen)
        above = argument.above if isinstance(argument, RisingMetric) else None
        stands = [series for series in seen if series in scraped.present]
        holds = any(above is None or scraped.highest[series] > above for series in stands)
        values = [scraped.highest[series] for series in stands]
        figures = () if above is None or not values else (BoundedFigure(value=max(values), at_least=above),)
        return Finding(self.name, expected, measured, holds, figures=figures)

    def check(self, argument: MetricPattern, arm: CheckedArm) -> Iterator[Flaw]:
        """A metric that no page of the arm can have, and a missing metric whose name may be misspelt."""
        if self.name == "metric_missing" and is_served(argument, arm):
            with_labels = " with these labels" if argument.labels else ""
            yield from arm.require_elsewhere(
                "metric_exists",
                lambda other: argument.program == other.program and argument.matches(_series(other)),
                f"no metric_exists of {{other}} asks for it{with_labels}, so it could be misspelt and it would be "
                "overlooked",
                ("name",),
            )
        yield from check_metric(argument, arm, *(arm.arms.values() if self.name == "metric_missing" else ()))

    def depends_on_time(self, argument: MetricPattern, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """Only a metric that must rise does."""
        rises = isinstance(argument, RisingMetric) and argument.above is not None and argument.above > 0
        return "arm" if rises else None


def is_served(wanted: MetricPattern, arm: CheckedArm) -> bool:
    """Whether the program has an endpoint; also true if its configuration is invalid."""
    configured = arm.program_of(wanted).configured
    return configured is None or configured.serves_metrics


def check_metric(wanted: MetricPattern, arm: CheckedArm, *further: CheckedArm) -> Iterator[Flaw]:
    """Names and labels that none of the arms serves, if the metrics of all arms are known."""
    if not is_served(wanted, arm):
        yield Flaw("this arm serves no metrics: set metrics.port (0 takes a free one) in `pipeline`")
    configured = [checked.program_of(wanted).configured for checked in (arm, *further)]
    pages = [program.metrics if program else None for program in configured]
    served = [page for page in pages if page is not None]
    if len(served) == len(pages):
        for key, text in find_unserved(wanted, served):
            yield Flaw(text, key, is_playable=True)


def find_unserved(wanted: MetricPattern, pages: Iterable[ServedMetrics]) -> Iterator[tuple[Location, str]]:
    """Names and labels that are on none of the pages, each as its key and a message."""
    served = {series: labels for page in pages for series, labels in page.items()}
    labels = served.get(wanted.name)
    if labels is None:
        endings = (f"{wanted.name}{ending}" for ending in ("_total", "_count"))
        near = next((series for series in endings if series in served), None) or nearest(wanted.name, served)
        known = (
            f"did you mean {near!r}?" if near else "docs/reference/metrics.md lists all, `metrics.rename` renames one"
        )
        yield ("name",), f"the program serves no metric {wanted.name!r} in this scenario; {known}"
        return
    for label in wanted.labels.keys() - labels:
        yield ("labels", label), f"{wanted.name} has no label {label!r}; {near_miss(label, sorted(labels))}"


def _series(pattern: MetricPattern) -> Series:
    return pattern.name, frozenset(pattern.labels.items())


def no_page(scraped: Scraped) -> str:
    """The measured text if no page could be read."""
    return f"n/a: no page of metrics was read ({scraped.failed or 'the pipeline said of none'})"


def _measured(seen: list[Series], scraped: Scraped) -> str:
    highest = max(seen, key=lambda series: (scraped.highest[series], series[0], sorted(series[1])))
    gone = "" if any(series in scraped.present for series in seen) else ", and gone from the last"
    more = f" and {len(seen) - 1} more" if len(seen) > 1 else ""
    return f"{_format_series(*highest)}{more}, at most {scraped.highest[highest]:g} on {_pages(scraped)}{gone}"


def _pages(scraped: Scraped) -> str:
    return counted(scraped.pages, "page")


def _describe_nearest(argument: MetricPattern, scraped: Scraped) -> str:
    """What the endpoint has instead: the name with other labels, or a similar name."""
    labelled = sorted(_format_series(*series) for series in scraped.highest if series[0] == argument.name)
    if labelled:
        return f"; there is {', '.join(labelled[:_SHOWN])}{', …' if len(labelled) > _SHOWN else ''}"
    near = nearest(argument.name, sorted({name for name, _labels in scraped.highest}))
    return f"; next to it is {near}" if near else ""


def _format_series(name: str, labels: Labels) -> str:
    inside = ", ".join(f'{label}="{value}"' for label, value in sorted(labels))
    return f"{name}{{{inside}}}" if inside else name


METRIC_EXISTS = _Metric(
    name="metric_exists",
    argument=RisingMetric,
    summary=(
        "The program's metrics endpoint has the metric on the last page of some process, and on some page a value "
        "above `above`. `name` is the name that a query uses, and each of `labels` has the given value. It needs "
        "`pipeline.metrics.port`."
    ),
    example='{name: enrichment_lag_seconds, labels: {partition: "0"}, above: 2}',
)
METRIC_MISSING = _Metric(
    name="metric_missing",
    argument=MetricPattern,
    summary=(
        "No page of the program's metrics endpoint has the metric. Another arm has to expect it with "
        "`metric_exists`, so that a misspelt name is noticed."
    ),
    example="{name: enrichment_breaker_open}",
)
