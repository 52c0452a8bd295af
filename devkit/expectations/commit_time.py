"""How long the commits of micro-batches took, by what Spark says of them: writing the offsets and the commit."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from devkit.expectations.of_samples import OfCourse, TimeOfSamples
from devkit.expectations.timing import of_bound
from devkit.observe.arm_observation import ArmObservation


class CommitTime(TimeOfSamples):
    """Bounds on a number of all commits."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all commits."
    )


def _absent(_argument: CommitTime, observation: ArmObservation) -> str:
    return "" if observation.commits else "n/a: no commit was reported"


COMMIT_TIME = OfCourse(
    name="commit_time",
    summary=(
        "Time that Spark took to write a micro-batch's offsets and its commit to the checkpoint: the `highest`, "
        "`lowest`, `mean` or `last` of all commits that it reported."
    ),
    example="{at_least: 6s}",
    argument=CommitTime,
    course=lambda _argument, observation: observation.commits,
    show="{:.2f}s".format,
    timing=of_bound,
    absent=_absent,
    needs=frozenset({"batches"}),
    look="commit",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
