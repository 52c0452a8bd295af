"""Refuse: the server does not listen, so every new connection is refused (ECONNREFUSED), the control's as well.

It begins when the rule comes into force and ends with `for` or the rule's ttl, for no other connection could end it.
Connections that are open live on, and the control can be reached through them. The port stays taken meanwhile.
A refused connection is no request: no journal shows it, only the client can.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_core import PydanticCustomError

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.duration import PositiveDuration
from mockapi.rules.strict import Strict
from mockapi.rules.when import When

if TYPE_CHECKING:
    from mockapi.rules.model import Rule


class Refuse(Strict):
    """Nobody can connect `for` so long, or until the rule's ttl is over; with both until the first of the two."""

    for_: PositiveDuration | None = Field(default=None, alias="for")


def apply(plan: Plan, refuse: Refuse, draw: Draw) -> Plan:  # noqa: ARG001 - a request that came in was not refused
    """Nothing: it is about connections, and the listener carries it out."""
    return plan


def check(rule: "Rule") -> None:
    """Raises PydanticCustomError for a rule that refuses only some requests, or for ever."""
    refuse = rule.do.refuse
    if refuse is None:
        return
    if rule.when != When() or rule.times is not None:
        raise PydanticCustomError(
            "refuse_some",
            "refuse cannot choose among requests",
            {"hint": "a refused connection has none: leave out when and times; reset can choose"},
        )
    if refuse.for_ is None and rule.ttl is None:
        raise PydanticCustomError(
            "refuse_ever", "refuse without an end", {"hint": "give it a time, such as refuse: 10s, or the rule a ttl"}
        )


def ends_after(rule: "Rule") -> timedelta | None:
    """How long after it came into force a rule stops refusing; None for one that lasts as long as it is in force."""
    return None if rule.do.refuse is None else rule.do.refuse.for_


FAULT = Fault("refuse", "connection", "the server does not listen", "10s", apply, promised=False)
