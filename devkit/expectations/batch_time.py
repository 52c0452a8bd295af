"""How long micro-batches lasted, by what the program says of them, with the state that they write."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from devkit.expectations.series_measure import DurationSeriesArgument, SeriesMeasure
from devkit.expectations.timing import bound_window
from devkit.observe.arm_observation import ArmObservation


class BatchTime(DurationSeriesArgument):
    """Bounds on a number of all micro-batches."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all micro-batches."
    )


def _absent(_argument: BatchTime, observation: ArmObservation) -> str:
    return "" if observation.batches else "n/a: no batch was written"


BATCH_TIME = SeriesMeasure(
    name="batch_time",
    summary=(
        "Time that a micro-batch lasted, from its start until its records are emitted and its state is written: "
        "the `highest`, `lowest`, `mean` or `last` of all that the main program wrote. The first batch of a "
        "process is longer, as its JVM is cold."
    ),
    example="{of: lowest, at_most: 2s}",
    argument=BatchTime,
    series=lambda _argument, observation: observation.batches,
    format_value="{:.2f}s".format,
    timing=bound_window,
    absent=_absent,
    needs=frozenset({"batches"}),
    point="batch",
    points="batches",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
