"""How long the commits of micro-batches took, by what Spark says of them: writing the offsets and the commit."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from devkit.expectations.series_measure import DurationSeriesArgument, SeriesMeasure
from devkit.expectations.timing import bound_window
from devkit.observe.arm_observation import ArmObservation


class CommitTime(DurationSeriesArgument):
    """Bounds on a number of all commits."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all commits."
    )


def _absent(_argument: CommitTime, observation: ArmObservation) -> str:
    return "" if observation.commits else "n/a: no commit was reported"


COMMIT_TIME = SeriesMeasure(
    name="commit_time",
    summary=(
        "Time that Spark took to write a micro-batch's offsets and its commit to the checkpoint: the `highest`, "
        "`lowest`, `mean` or `last` of all commits that it reported."
    ),
    example="{at_least: 6s}",
    argument=CommitTime,
    series=lambda _argument, observation: observation.commits,
    format_value="{:.2f}s".format,
    timing=bound_window,
    absent=_absent,
    needs=frozenset({"batches"}),
    point="commit",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
