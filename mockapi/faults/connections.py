"""Connections: a number of connections at once for all requests that match the rule; on one too many no request is
answered, and it is reset.

A connection takes its place with its first such request, and keeps it until it is closed and every parse that was begun
on it has ended, as a gateway does whose worker is tied to the parse: a client that dies leaves its places taken. Which
connection finds none depends on the clients' timing. The mock's control takes none.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import Met
from mockapi.values.strict import Strict, spelled_out


class Connections(Strict):
    """How many connections may be open at once among all that carried a request which matches the rule."""

    at_most: int = Field(ge=1, strict=True, description="Number of connections that are taken at once.")


def apply(plan: Plan, connections: Connections, draw: Draw) -> Plan:
    """Names the rule whose places the connection needs one of, in place of an earlier rule."""
    return replace(plan, connections=(draw.rule, connections.at_most))


def inaction(connections: Connections, met: Met) -> str:
    """Nothing once a request got no answer: one that was reset got none."""
    return "" if met.by_status.get("none") else f"there were never more than {connections.at_most} connections"


FAULT = Fault(
    name="connections",
    group="connection",
    summary="a number of connections at once, each until its parses have ended; others are reset",
    docs="this number of connections at once for all requests that match the rule; one too many is reset. A "
    "connection counts until it is closed and its parses have ended, so a client that dies leaves its places taken",
    takes=Annotated[Connections, spelled_out("at_most", int | Connections)],
    example={"at_most": 50},
    apply=apply,
    deterministic=False,
    inaction=inaction,
)
