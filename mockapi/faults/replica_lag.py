"""Replica lag: a new revision is unknown for a while, then known.

With `attempts` it is unknown to this number of first requests for it, which is a function of the attempt; with `for`
until this time after the first request for it. Only a client that tries again gets it.
"""

from dataclasses import replace
from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import PositiveDuration
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.strict import Strict


class ReplicaLag(Strict):
    """How long a new revision stays unknown: either `attempts` or `for`, never both."""

    attempts: int | None = Field(
        default=None, ge=1, strict=True, description="Number of first attempts for which the revision is not known yet."
    )
    for_: PositiveDuration | None = Field(
        default=None, alias="for", description="Time from the first request on for which the revision is not known yet."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.attempts is None) == (self.for_ is None):
            raise PydanticCustomError("replica_lag", "not a lag", {"hint": "either attempts: 2, or for: 3s"})
        return self


def apply(plan: Plan, lag: ReplicaLag, draw: Draw) -> Plan:
    """Takes the revision away for these attempts, or says for how long it is to be away."""
    state = plan.state
    if lag.attempts is not None and draw.attempt <= lag.attempts:
        state = replace(state, missing=True)
    if lag.for_ is not None:
        state = replace(state, unknown_for=(draw.rule, lag.for_))
    return replace(plan, state=state)


FAULT = Fault(
    name="replica_lag",
    group="wiki",
    summary="a revision is unknown at first, then known",
    docs="a new revision, unknown at first, then known; or `{for: 3s}` after the first request for it (*)",
    takes=ReplicaLag,
    example={"attempts": 2},
    apply=apply,
)
