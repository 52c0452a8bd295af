"""Reset: the connection breaks with RST, as when the server's process is killed or a balancer loses its state.

What was sent before it has arrived by then; a client reads that first and then gets ECONNRESET.
"""

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
    return cut_off(plan, cut, reset=True)


FAULT = Fault(
    name="reset",
    group="connection",
    summary="RST under the answer",
    docs="RST `before headers`, `in headers`, `before body` or `in body`",
    takes=Annotated[Cut, spelled_out("at", str | Cut)],
    example={"at": "in body", "after": "10KiB"},
    apply=apply,
    claims=(ENDING,),
    inaction=unchanged(Effect.ENDING, "each answer was sent whole"),
)
