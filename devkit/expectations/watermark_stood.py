"""For how long the watermark stood still: what waits for it stays in the state, and nothing leaves."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

from pydantic import Field

from devkit.expectations.series_measure import DurationSeriesArgument, SeriesMeasure
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.time_series import TimeSeries


class WatermarkStood(DurationSeriesArgument):
    """Bounds on a number of all these times."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all times between two steps."
    )


def _still_times(observation: ArmObservation) -> Iterator[tuple[float, float]]:
    """From the first report of a watermark to that of a later one, and from the last of these to the arm's end."""
    since, watermark = observation.watermarks[0]
    for at_s, seconds in observation.watermarks:
        if seconds > watermark:
            yield at_s, at_s - since
            since, watermark = at_s, seconds
    yield observation.duration_s, max(0.0, observation.duration_s - since)


def _series(_argument: WatermarkStood, observation: ArmObservation) -> TimeSeries:
    return tuple(_still_times(observation)) if observation.watermarks else ()


def _absent(_argument: WatermarkStood, observation: ArmObservation) -> str:
    return "" if observation.watermarks else "n/a: the main program reported no watermark"


WATERMARK_STOOD = SeriesMeasure(
    name="watermark_stood",
    summary=(
        "Time in which the watermark did not move, as Spark reports it for each batch, up to the arm's end: the "
        "`highest`, `lowest`, `mean` or `last` of all such times."
    ),
    example="{at_least: 20s}",
    argument=WatermarkStood,
    series=_series,
    format_value="{:.1f}s".format,
    absent=_absent,
    point="time",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
