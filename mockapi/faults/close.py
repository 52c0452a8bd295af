"""Close: the connection ends early but in order, with FIN, as when a server restarts or a worker gives up."""

from mockapi.draws import Draw
from mockapi.faults.cut import Cut, cut_off
from mockapi.faults.fault import Fault
from mockapi.plan import Plan


def apply(plan: Plan, cut: Cut, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets how the answer ends, replacing that of an earlier rule."""
    return cut_off(plan, cut, reset=False)


FAULT = Fault("close", "connection", "FIN under the answer", "before headers", apply)
