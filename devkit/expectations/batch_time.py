"""How long micro-batches lasted, by what the program says of them, with the state that they write."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field

from devkit.expectations.bounds import Time
from devkit.expectations.of_samples import OfCourse, OfSamples
from devkit.expectations.timing import of_bound
from devkit.observe.arm_observation import ArmObservation


class BatchTime(Time, OfSamples):
    """Bounds on a number of all micro-batches."""

    of: Literal["highest", "lowest", "mean", "last"] = Field(
        default="highest", description="Number that is made of all micro-batches."
    )

    def __str__(self) -> str:
        return f"{self.number} {super().__str__()}"

    def slower(self, by: int) -> Self:
        """A bound is a duration, like all others in a run that is stretched."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        return self.model_copy(update={name: bound * by for name, bound in bounds.items() if bound is not None})


def _absent(_argument: BatchTime, observation: ArmObservation) -> str:
    return "" if observation.batches else "n/a: no batch was written"


BATCH_TIME = OfCourse(
    "batch_time",
    summary=(
        "Time that a micro-batch lasted, from its start until its records are emitted and its state is written: the "
        "`highest`, `lowest`, `mean` or `last` of all that the main program wrote. The first one of a process "
        "is longer, as its JVM is cold."
    ),
    example="{of: lowest, at_most: 2s}",
    argument=BatchTime,
    course=lambda _argument, observation: observation.batches,
    show="{:.2f}s".format,
    timing=of_bound,
    absent=_absent,
    needs=frozenset({"batches"}),
    look="batch",
    looks="batches",
    as_bound=lambda seconds: timedelta(seconds=seconds),
)
