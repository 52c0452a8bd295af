"""Reset: the connection breaks with RST, as when the server's process is killed or a balancer loses its state.

What was sent before it has arrived by then; a client reads that first and then gets ECONNRESET.
"""

from mockapi.draws import Draw
from mockapi.faults.cut import Cut, cut_off
from mockapi.faults.fault import Fault
from mockapi.plan import Plan


def apply(plan: Plan, cut: Cut, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets how the answer ends, replacing that of an earlier rule."""
    return cut_off(plan, cut, reset=True)


FAULT = Fault("reset", "connection", "RST under the answer", {"at": "in body", "after": "10KiB"}, apply)
