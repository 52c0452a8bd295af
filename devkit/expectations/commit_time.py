"""How long the commits of micro-batches took, by what Spark says of them: writing the offsets and the commit."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Self

from devkit.expectations.base import Finding
from devkit.expectations.bounds import Time
from devkit.expectations.of_samples import OfSamples, value_of
from devkit.expectations.timing import of_bound
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable


class CommitTime(Time, OfSamples):
    """Bounds on a number of all commits."""

    of: Literal["highest", "lowest", "mean", "last"] = "highest"

    def __str__(self) -> str:
        return f"{self.number} {super().__str__()}"

    def slower(self, by: int) -> Self:
        """A bound is a duration, like all others in a run that is stretched."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        return self.model_copy(update={name: bound * by for name, bound in bounds.items() if bound is not None})


@dataclass(frozen=True)
class _CommitTime:
    name: str = "commit_time"
    summary: str = (
        "Time that Spark took to write a micro-batch's offsets and its commit to the checkpoint: the `highest`, "
        "`lowest`, `mean` or `last` of all commits that it reported."
    )
    example: str = "{at_least: 6s}"
    argument: Any = CommitTime
    needs: frozenset[Observable] = frozenset({"batches"})

    def judge(self, argument: CommitTime, observation: ArmObservation) -> Finding:
        seconds, of_what = value_of(argument, observation.commits, observation)
        if seconds is None:
            missing = of_what if observation.commits else "no commit was reported"
            return Finding(self.name, str(argument), f"n/a: {missing}", holds=None)
        commits = of_what.replace("look", "commit")
        holds = argument.admits(timedelta(seconds=seconds))
        return Finding(self.name, str(argument), f"{seconds:.2f}s ({commits})", holds)

    def figure(self, argument: CommitTime, observation: ArmObservation) -> float | None:
        """In seconds; None where no commit was reported."""
        return value_of(argument, observation.commits, observation)[0]

    def depends_on_time(self, argument: CommitTime, observation: ArmObservation) -> Window | None:
        return of_bound(argument, observation)


COMMIT_TIME = _CommitTime()
