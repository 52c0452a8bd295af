"""Truncate: the body stops early, after a number of bytes on the wire or after a share of them.

With the full Content-Length (`promised`) a client can tell from the header; `chunked` leaves out the header and the
last chunk. The connection ends with FIN, as from a server that believes it is done, or with RST.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ENDING
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import BytePlace, Effect, Ending
from mockapi.values.offset import After
from mockapi.values.strict import Strict, spelled_out


class Truncate(Strict):
    """`after` counts bytes as sent, content coding included. A shorter body goes out whole first."""

    after: After = Field(description="Bytes as sent, or share of the body, after which it ends.")
    end: Literal["fin", "reset"] = Field(
        default="fin", description="How the connection ends: in order with FIN, or abruptly with RST."
    )
    length: Literal["promised", "chunked"] = Field(
        default="promised",
        description="Whether `Content-Length` states the full length, or the body is chunked and has none.",
    )


def apply(plan: Plan, truncate: Truncate, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets how the answer ends, replacing that of an earlier rule."""
    ending = Ending(
        BytePlace.IN_BODY, truncate.after, reset=truncate.end == "reset", chunked=truncate.length == "chunked"
    )
    return replace(plan, delivery=replace(plan.delivery, ending=ending, hang=None))


FAULT = Fault(
    name="truncate",
    group="body",
    summary="the body stops early",
    docs="the body stops early, with FIN or RST; `length: chunked` for a body without a length",
    takes=Annotated[Truncate, spelled_out("after", After | Truncate)],
    example={"after": "50%", "length": "chunked"},
    apply=apply,
    claims=(ENDING,),
    inaction=unchanged(Effect.ENDING, "each answer was sent whole"),
)
