"""What became of a fault on a part: the same in the timeline of a run and among the evidence of its verdict."""

from pydantic import BaseModel, ConfigDict


class FaultOutcome(BaseModel):
    """What became of a fault, and what shows it."""

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
