"""Dribble: the body comes a few bytes at a time, so that no single read waits long and the whole takes for ever."""

from dataclasses import replace
from datetime import timedelta

from pydantic import Field

from located_config.duration import PositiveDuration
from located_config.size import Size
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import PACE
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect, Pace
from mockapi.values.strict import Strict


class Dribble(Strict):
    """`bytes` bytes of the body, `every` interval, the first at once; the last piece may be shorter."""

    bytes: Size = Field(ge=1, description="Bytes of each piece of the body; the last one may be shorter.")
    every: PositiveDuration = Field(description="Time between two pieces; the first is sent at once.")


def apply(plan: Plan, dribble: Dribble, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the pace of the body, replacing that of an earlier rule, also another fault's."""
    pace = Pace(dribble.bytes, dribble.every.total_seconds())
    return replace(plan, delivery=replace(plan.delivery, pace=pace, through_body=timedelta(0)))


FAULT = Fault(
    name="dribble",
    group="body",
    summary="the body comes a few bytes at a time",
    docs="the body comes a few bytes at a time",
    takes=Dribble,
    example={"bytes": 100, "every": "1s"},
    apply=apply,
    claims=(PACE,),
    inaction=unchanged(Effect.PACE, "each body was too short to be slowed"),
)
