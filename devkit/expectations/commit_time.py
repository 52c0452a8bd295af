"""How long the commits of micro-batches took, by what Spark says of them: writing the offsets and the commit."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field

from devkit.expectations.bounds import Time
from devkit.expectations.of_samples import OfCourse, OfSamples
from devkit.expectations.timing import of_bound
from devkit.observe.arm_observation import ArmObservation


class CommitTime(Time, OfSamples):
    """Bounds on a number of all commits."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all commits."
    )

    def __str__(self) -> str:
        return f"{self.number} {super().__str__()}"

    def slower(self, by: int) -> Self:
        """A bound is a duration, like all others in a run that is stretched."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        return self.model_copy(update={name: bound * by for name, bound in bounds.items() if bound is not None})


def _absent(_argument: CommitTime, observation: ArmObservation) -> str:
    return "" if observation.commits else "n/a: no commit was reported"


COMMIT_TIME = OfCourse(
    "commit_time",
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
