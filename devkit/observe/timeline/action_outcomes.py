"""Outcomes of what an arm does to its programs: of a step, such as an operator's command, and of a fault on a part."""

from pydantic import BaseModel, ConfigDict


class StepOutcome(BaseModel):
    """`number` counts from 1, `step` is its text in the scenario. Times are in seconds from the arm's start. `from_s`
    is None where the step did not begin, `to_s` where it did not end before the arm did.

    `holds` is None as long as it is not known; `did` is what was seen. `exit_code` and `output` (its end) are those of
    a command. `timed_out` is whether it failed by taking too long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    step: str
    holds: bool | None = None
    did: str = ""
    from_s: float | None = None
    to_s: float | None = None
    exit_code: int | None = None
    output: str = ""
    timed_out: bool = False

    @property
    def name(self) -> str:
        """As reports name it."""
        return f"step {self.number}"


class FaultOutcome(BaseModel):
    """The outcome of a fault on a part, and what shows it."""

    model_config = ConfigDict(frozen=True)

    asked: str
    """The fault as the scenario has it."""
    from_s: float | None = None
    """When it began, in seconds from the arm's start; null where it never did."""
    to_s: float | None = None
    """When it ended, in seconds from the arm's start."""
    acted: bool
    """Whether its part showed it."""
    did: str
    """What the part did, or what was seen instead."""
    irreversible: tuple[str, ...] = ()
    """What of it could not be undone."""
