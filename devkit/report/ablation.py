"""Which differences of a fixed arm the fix needs: each was turned back by itself, and the arm played without it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from devkit.errors import INCONCLUSIVE
from devkit.observe.arm_role import ArmName
from devkit.observe.settings import setting_text
from devkit.report.expectation_result import ExpectationResult
from devkit.report.outcome import Outcome
from devkit.report.text_layout import columns

Needed = Literal["yes", "no", "unclear"]
NEEDED: dict[Outcome, Needed] = {"fixed arm holds": "no", "fixed arm does not hold": "yes"}
"""By the outcome of the arm without the difference; any other is unclear."""
NOT_PLAYED_YET = "it was not its turn yet when the ablation ended"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AblatedDifference(_Model):
    """One difference: `fixed` was turned back to `incident`, where None is a key that the arm does not have.

    `outcome` is that of the arm without it and `expectations` are what it came to, None and empty where it could not be
    played or did not have to be. `reason` says why that is so, or why nothing can be told of the play, and `next_step`
    what to do about that. `directory` has the play's evidence, seen from that of the run.
    """

    difference: str
    incident: Any
    fixed: Any
    needed: Needed = "unclear"
    outcome: Outcome | None = None
    expectations: tuple[ExpectationResult, ...] = ()
    reason: str = ""
    next_step: str = ""
    directory: str | None = None

    @property
    def change(self) -> str:
        """What was turned back, as a value of the fixed arm and one of the incident arm."""
        return f"{setting_text(self.fixed)} → {setting_text(self.incident)}"


class Ablation(_Model):
    """Of the arm `arm`, whose differences from `against` were turned back.

    `as_played` is what the arm expected and measured in the run itself, with nothing turned back.
    """

    arm: ArmName
    against: ArmName
    as_played: tuple[ExpectationResult, ...]
    differences: tuple[AblatedDifference, ...]

    @property
    def exit_code(self) -> int:
        """0 where it is known of each difference whether the fix needs it, else 3."""
        return INCONCLUSIVE if self.of("unclear") else 0

    def of(self, needed: Needed) -> tuple[str, ...]:
        """The differences of which that is the answer."""
        return tuple(item.difference for item in self.differences if item.needed == needed)

    @property
    def conclusion(self) -> str:
        """What it comes to, in sentences."""
        needed, not_needed, unclear = self.of("yes"), self.of("no"), self.of("unclear")
        parts = [f"The fix needs {_listed(needed)}."] if needed else []
        if not_needed:
            parts.append(f"It holds without {_listed(not_needed)}{', each by itself' if len(not_needed) > 1 else ''}.")
        if len(not_needed) == len(self.differences) > 1:
            parts.append("So two or more of them do the same: leave one out of the file and ask again.")
        if unclear:
            parts.append(f"Not known of {_listed(unclear)}.")
        return " ".join(parts)

    def broken_in_a_play(self, expectations: tuple[ExpectationResult, ...]) -> tuple[ExpectationResult, ...]:
        """Those of the `expectations` of one play that are broken in some play; all of them where none is."""
        plays = [self.as_played, *(item.expectations for item in self.differences if item.expectations)]
        broken = {_key(item) for play in plays for item in play if not item.holds}
        return tuple(item for item in expectations if _key(item) in broken) or expectations


def ablation_lines(ablation: Ablation, directory: Path) -> Iterator[str]:
    """Lines without line ends; `directory` is that of the run."""
    yield ""
    yield f"what {ablation.arm} needs of its differences from {ablation.against}:"
    head = ("difference", ablation.arm, "turned back to", "without it", "needed")
    rows = [
        (
            item.difference,
            setting_text(item.fixed),
            setting_text(item.incident),
            item.outcome or "not played",
            item.needed,
        )
        for item in ablation.differences
    ]
    yield from columns([head, *rows], indent="  ")
    yield ""
    for item in ablation.differences:
        yield f"without {item.difference}:"
        for played in ablation.broken_in_a_play(item.expectations):
            yield f"  {holds_text(played):<4} {played.name}: {played.measured} (expected {played.expected})"
        if item.reason:
            yield f"  {item.reason}"
        if item.next_step:
            yield f"  next: {item.next_step}"
        if item.directory:
            yield f"  evidence: {directory / item.directory}"
    yield ""
    yield ablation.conclusion


def holds_text(item: ExpectationResult) -> str:
    """As a word in a column."""
    return "n/a" if item.holds is None else "ok" if item.holds else "FAIL"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _key(item: ExpectationResult) -> tuple[str, str]:
    return item.name, item.expected
