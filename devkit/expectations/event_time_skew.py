"""How far commits are ahead of the events still to be read, in event time: what a watermark would make late."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from devkit.expectations.base import hidden_records
from devkit.expectations.series_measure import DurationSeriesArgument, SeriesMeasure
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable
from devkit.observe.time_series import TimeSeries

_NEEDS: frozenset[Observable] = frozenset({"offsets"})


class EventTimeSkewBound(DurationSeriesArgument):
    """Bounds on a number of all looks, in event time."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all looks."
    )


def _absent(_argument: EventTimeSkewBound, observation: ArmObservation) -> str:
    hidden = hidden_records(_NEEDS, observation)
    return f"n/a: {hidden}" if hidden else ""


def _series(_argument: EventTimeSkewBound, observation: ArmObservation) -> TimeSeries:
    return tuple(
        (sample.at_s, sample.event_time_skew_s)
        for sample in observation.samples
        if sample.event_time_skew_s is not None
    )


EVENT_TIME_SKEW = SeriesMeasure(
    name="event_time_skew",
    summary=(
        "Event time of the newest committed event minus that of the oldest uncommitted one: the `highest`, "
        "`lowest`, `mean` or `last` of all samples. It needs traffic with `event_times`."
    ),
    example="{at_least: 2m}",
    argument=EventTimeSkewBound,
    series=_series,
    format_value="{:.1f}s".format,
    absent=_absent,
    needs=_NEEDS,
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
