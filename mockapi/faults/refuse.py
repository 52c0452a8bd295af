"""Refuse: the server does not listen, so every new connection is refused (ECONNREFUSED), the control's as well.

It begins when the rule comes into force and ends with `for` or the rule's ttl, for no other connection could end it.
Connections that are open live on, and the control can be reached through them. The port stays taken meanwhile.
A refused connection is no request: no journal shows it, only the client can.
"""

from typing import Annotated

from pydantic import Field
from pydantic_core import PydanticCustomError

from located_config.duration import Duration, PositiveDuration
from mockapi.draws import Draw
from mockapi.faults.fault import Fault, Terms
from mockapi.plan import Plan
from mockapi.values.strict import Strict, spelled_out


class Refuse(Strict):
    """No client can connect `for` this time, or until the rule's ttl is over; with both until the first of the two."""

    for_: PositiveDuration | None = Field(
        default=None,
        alias="for",
        description="Time for which no client can connect. Default: until the `ttl` of the rule is over.",
    )


def apply(plan: Plan, refuse: Refuse, draw: Draw) -> Plan:  # noqa: ARG001 - a request that came in was not refused
    """Nothing: it is about connections, and the listener carries it out."""
    return plan


def suits(refuse: Refuse, terms: Terms) -> None:
    """Raises PydanticCustomError where the rule chooses among requests, or would refuse for ever."""
    if terms.chooses:
        raise PydanticCustomError(
            "refuse_some",
            "refuse cannot choose among requests",
            {"hint": "a refused connection has none: leave out when and times; reset can choose"},
        )
    if refuse.for_ is None and terms.ttl is None:
        hint = "give it a time, such as refuse: 10s, or the rule a ttl"
        raise PydanticCustomError("refuse_ever", "refuse without an end", {"hint": hint})


FAULT = Fault(
    name="refuse",
    group="connection",
    summary="the server does not listen",
    docs="the server does not listen, for all; open connections live on. Needs `for` or a `ttl`",
    takes=Annotated[Refuse, spelled_out("for", Duration | Refuse)],
    example="10s",
    apply=apply,
    deterministic=False,
    alone=True,
    suits=suits,
    not_observable="a refused connection leaves no trace; `reset: before headers` is next to it",
)
