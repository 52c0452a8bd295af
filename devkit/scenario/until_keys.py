"""What a condition of `until` can ask of a program's metrics and of what it logs."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PositiveInt

from devkit.expectations.bounds import Number
from devkit.expectations.metric import MetricName, MetricPattern
from devkit.expectations.of_program import OfProgram


class MetricReached(Number, MetricPattern):
    """The series that match, summed, are within the bounds at one look."""

    name: MetricName = Field(
        description="Name of the metric as a query asks for it, a counter's with its `_total`.",
        examples=["enrichment_lag_events"],
    )
    labels: dict[str, str] = Field(
        default={}, description="Labels with the value that each must have.", examples=[{"partition": "0"}]
    )
    at_least: float | None = Field(default=None, description="Lower bound, inclusive.", examples=[500])
    at_most: float | None = Field(default=None, description="Upper bound, inclusive.", examples=[0])


class LogReached(OfProgram):
    """The program wrote the event on its standard output this number of times."""

    program: str | None = Field(
        default=None, description="Name of one of several programs. Default: the main one.", examples=["reader"]
    )
    event: str = Field(min_length=1, description="Name of the event, its field `event`.", examples=["waiting"])
    at_least: PositiveInt = Field(default=1, description="Number of times, from the arm's start on.", examples=[2])


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


MetricsReached = Annotated[
    tuple[MetricReached, ...],
    BeforeValidator(_listed, json_schema_input_type=MetricReached | tuple[MetricReached, ...]),
]
LogsReached = Annotated[
    tuple[LogReached, ...], BeforeValidator(_listed, json_schema_input_type=LogReached | tuple[LogReached, ...])
]
