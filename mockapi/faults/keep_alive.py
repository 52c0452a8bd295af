"""Keep alive: a connection carries a number of answers; then the server ends it (FIN).

Unannounced, as when a server's idle time is over, the client may be sending its next request at that moment. Which
request is the n-th of a connection is up to the client, so it is no function of the seed.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect, KeepAlive
from mockapi.values.strict import Strict, spelled_out


class KeepAliveEnd(Strict):
    """The connection ends after this number of `requests`, all that it carried counted; `announce` says so in the last
    one's `Connection: close`.
    """

    requests: int = Field(
        ge=1, strict=True, description="Number of requests that a connection carries in all before it ends."
    )
    announce: bool = Field(default=False, description="Whether the last answer says so with `Connection: close`.")


def apply(plan: Plan, end: KeepAliveEnd, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the number, replacing that of an earlier rule."""
    keep_alive = KeepAlive(end.requests, end.announce)
    return replace(plan, delivery=replace(plan.delivery, keep_alive=keep_alive))


FAULT = Fault(
    name="keep_alive",
    group="connection",
    summary="FIN after the n-th answer of a connection",
    docs="FIN after the fifth answer of a connection, unannounced or with `announce: true`",
    takes=Annotated[KeepAliveEnd, spelled_out("requests", int | KeepAliveEnd)],
    example={"requests": 5},
    apply=apply,
    deterministic=False,
    inaction=unchanged(Effect.KEEP_ALIVE, "no connection carried that number of requests"),
)
