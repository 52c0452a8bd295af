"""Which differences of a fixed arm the fix needs: each was turned back by itself, and the arm played without it."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from devkit.errors import INCONCLUSIVE
from devkit.observe.arm_role import ArmName
from devkit.observe.setting_text import setting_text
from devkit.report.columns import columns
from devkit.report.result import Outcome

Needed = Literal["yes", "no", "unclear"]
NEEDED: dict[Outcome, Needed] = {"fixed arm holds": "no", "fixed arm does not hold": "yes"}
"""By the outcome of the arm without the difference; any other is unclear."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AblatedDifference(_Model):
    """One difference: `fixed` was turned back to `incident`, where None is a key that the arm does not have.

    `outcome` is that of the arm without it, None where it could not be played or did not have to be; `reason` says why,
    or what broke. `directory` has the evidence, in the run's.
    """

    difference: str
    incident: Any
    fixed: Any
    needed: Needed = "unclear"
    outcome: Outcome | None = None
    reason: str = ""
    directory: str | None = None


class Ablation(_Model):
    """Of the arm `arm`, whose differences from `against` were turned back; `run` is the directory of the run."""

    scenario: str
    arm: ArmName
    against: ArmName
    run: str
    differences: tuple[AblatedDifference, ...]

    @property
    def exit_code(self) -> int:
        """0 where it is known of each difference whether the fix needs it, else 3."""
        return INCONCLUSIVE if any(one.needed == "unclear" for one in self.differences) else 0


def ablation_lines(ablation: Ablation) -> Iterator[str]:
    """Lines without line ends."""
    yield ""
    yield f"{ablation.scenario}: what {ablation.arm} needs of its differences from {ablation.against}"
    head = ("difference", ablation.arm, "turned back to", "without it", "needed")
    rows = [
        (one.difference, setting_text(one.fixed), setting_text(one.incident), one.outcome or "not played", one.needed)
        for one in ablation.differences
    ]
    yield from columns([head, *rows], indent="  ")
    for one in ablation.differences:
        if one.reason:
            yield f"  {one.difference}: {one.reason}"
    if len(ablation.differences) > 1 and all(one.needed == "no" for one in ablation.differences):
        yield "  each can be missing by itself, so two or more of them do the same: leave one out and ask again"
