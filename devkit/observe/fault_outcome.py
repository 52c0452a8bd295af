"""What became of a fault on a part: the same in the timeline of a run and among the evidence of its verdict."""

from pydantic import BaseModel, ConfigDict


class FaultOutcome(BaseModel):
    """Times count from the arm's start; `from_s` is None where it never began.

    `acted` is whether its part showed it; `did` says what the part did, or what was seen instead. `irreversible` is
    what of it could not be undone.
    """

    model_config = ConfigDict(frozen=True)

    asked: str
    from_s: float | None = None
    to_s: float | None = None
    acted: bool
    did: str
    irreversible: tuple[str, ...] = ()
