"""Garbage: random bytes where an answer should be, then FIN; as from a broken proxy, or a port that speaks no HTTP."""

import random
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from located_config.size import Size
from mockapi.draws import Draw, digest
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ENDING
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import BytePlace, Effect, Ending
from mockapi.values.strict import Strict, spelled_out


class Garbage(Strict):
    """`bytes` bytes in place of the whole answer, or after its headers in place of the body."""

    at: Literal["before headers", "after headers"] = Field(
        default="before headers", description="Whether the bytes replace the whole answer or its body alone."
    )
    bytes: Size = Field(default=512, ge=1, le=1 << 20, description="Number of random bytes.")


def apply(plan: Plan, garbage: Garbage, draw: Draw) -> Plan:
    """Draws the bytes and sets how the answer ends, replacing that of an earlier rule."""
    source = random.Random(digest(draw.seed, draw.rule, draw.key, draw.attempt, "garbage"))
    # No HTTP begins with a byte above 127; random ones could spell a status line.
    then = b"\xff" + source.randbytes(garbage.bytes - 1)
    place = BytePlace.BEFORE_HEADERS if garbage.at == "before headers" else BytePlace.BEFORE_BODY
    return replace(plan, delivery=replace(plan.delivery, ending=Ending(place, then=then), hang=None))


FAULT = Fault(
    name="garbage",
    group="connection",
    summary="random bytes in place of the answer, then FIN",
    docs="random bytes in place of the answer, then FIN",
    takes=Annotated[Garbage, spelled_out("at", str | Garbage)],
    example={"bytes": 512},
    apply=apply,
    claims=(ENDING,),
    inaction=unchanged(Effect.ENDING, "each answer was sent whole"),
)
