"""What a job serves of its metrics."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from located_config.duration import PositiveDuration
from pipeline.config.section import Host, Section


class Metrics(Section):
    """What the driver serves to Prometheus at `http://host:port/metrics`."""

    port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None,
        description="Port on which the driver serves metrics; 0 takes a free one. Default: no metrics are served.",
    )
    host: Host = Field(default="127.0.0.1", description="Address that metrics are served on.")
    lag_interval: PositiveDuration = Field(
        default=timedelta(seconds=5), description="Interval at which the lag of the source is measured."
    )
    jvm_interval: PositiveDuration = Field(
        default=timedelta(seconds=5), description="Interval at which the driver's JVM and Spark's cache are measured."
    )
    rename: dict[str, Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]] = Field(
        default={}, description="Another name for a metric, by its own name, for an existing dashboard."
    )
    required: tuple[str, ...] = Field(
        default=(),
        description="Names of metrics that dashboards and alerts query. If no metric would have one of these "
        "names, the start is refused.",
    )
    on_collision: Literal["refuse", "drop"] = Field(
        default="refuse",
        description="What happens when two metrics have one name. `refuse` refuses the start. `drop` is unsafe: "
        "only the first of them is reported.",
    )
