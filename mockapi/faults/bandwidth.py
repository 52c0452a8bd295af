"""Bandwidth: the body of each answer comes at a number of bytes per second, in steps of a quarter of a second or finer.

The limit is that of one answer. Many at once each have theirs.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from located_config.rate import PER_SECOND
from located_config.size import Size
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import PACE
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect, Pace
from mockapi.server.reply import PIECE_BYTES

_STEPS_A_SECOND: Final = 4


def apply(plan: Plan, bytes_a_second: int, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the pace of the body, replacing that of an earlier rule, also another fault's."""
    step_bytes = max(1, min(PIECE_BYTES, bytes_a_second // _STEPS_A_SECOND))
    pace = Pace(step_bytes, step_bytes / bytes_a_second, at_once=False)
    return replace(plan, delivery=replace(plan.delivery, pace=pace, through_body=timedelta(0)))


FAULT = Fault(
    name="bandwidth",
    group="body",
    summary="the body comes at this number of bytes per second",
    docs="the body comes at this number of bytes per second",
    takes=Annotated[Size, Field(ge=1), PER_SECOND],
    example="64KiB",
    apply=apply,
    claims=(PACE,),
    inaction=unchanged(Effect.PACE, "no answer had a body"),
)
