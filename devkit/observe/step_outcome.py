"""What became of one step of an arm, such as an operator's command."""

from pydantic import BaseModel, ConfigDict


class StepOutcome(BaseModel):
    """`number` counts from 1, `step` is what the scenario says. Times are in seconds from the arm's start; `from_s` is
    None where it was never its turn, `to_s` where it had not come to its end when the arm did.

    `holds` is None as long as it is not known; `did` is what was seen. `exit_code` and `output` (its end) are those of
    a command. `timed_out` is whether it failed as it took longer than it may.
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
