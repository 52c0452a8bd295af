"""Close: the connection ends early but in order, with FIN, as when a server restarts or a worker gives up."""

from typing import Annotated

from mockapi.draws import Draw
from mockapi.faults.cut import Cut, cut_off
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ENDING
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.values.strict import spelled_out


def apply(plan: Plan, cut: Cut, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets how the answer ends, replacing that of an earlier rule."""
    return cut_off(plan, cut, reset=False)


FAULT = Fault(
    name="close",
    group="connection",
    summary="FIN under the answer",
    docs="FIN at the same places",
    takes=Annotated[Cut, spelled_out("at", str | Cut)],
    example="before headers",
    apply=apply,
    claims=(ENDING,),
    inaction=unchanged(Effect.ENDING, "each answer was sent whole"),
)
