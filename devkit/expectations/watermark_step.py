"""By how much the watermark moves from one batch to the next: a leap makes late what is still to be read."""

from datetime import timedelta
from itertools import pairwise
from typing import Literal

from pydantic import Field

from devkit.expectations.series_measure import DurationSeriesArgument, SeriesMeasure
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.time_series import TimeSeries


class WatermarkStep(DurationSeriesArgument):
    """Bounds on a number of all steps, in event time."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all steps."
    )


def _steps(_argument: WatermarkStep, observation: ArmObservation) -> TimeSeries:
    """From one that Spark made of events to the next: before the first event it is at the epoch."""
    made = [(at_s, seconds) for at_s, seconds in observation.watermarks if seconds > 0]
    return tuple((at_s, after - before) for (_, before), (at_s, after) in pairwise(made))


def _absent(_argument: WatermarkStep, observation: ArmObservation) -> str:
    return "" if observation.watermarks else "n/a: the main program reported no watermark"


WATERMARK_STEP = SeriesMeasure(
    name="watermark_step",
    summary=(
        "Event time by which the watermark moved from one reported batch to the next: the `highest`, `lowest`, `mean` "
        "or `last` of all steps."
    ),
    example="{at_most: 1m}",
    argument=WatermarkStep,
    series=_steps,
    format_value="{:.1f}s".format,
    absent=_absent,
    point="step",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
