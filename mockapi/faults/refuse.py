"""Refuse: the server does not listen, so every new connection is refused (ECONNREFUSED), the control's as well.

It begins when the rule comes into force and ends with `for` or the rule's ttl, for no other connection could end it.
Connections that are open live on, and the control can be reached through them. The port stays taken meanwhile.
A refused connection is no request: no journal shows it, only the client can.
"""

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.duration import PositiveDuration
from mockapi.values.strict import Strict


class Refuse(Strict):
    """Nobody can connect `for` so long, or until the rule's ttl is over; with both until the first of the two."""

    for_: PositiveDuration | None = Field(default=None, alias="for")


def apply(plan: Plan, refuse: Refuse, draw: Draw) -> Plan:  # noqa: ARG001 - a request that came in was not refused
    """Nothing: it is about connections, and the listener carries it out."""
    return plan


FAULT = Fault("refuse", "connection", "the server does not listen", "10s", apply, promised=False)
