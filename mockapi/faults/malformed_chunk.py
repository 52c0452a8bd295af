"""Malformed chunk: the body is chunked, and one chunk breaks the framing; then the connection ends with FIN."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ENDING, LENGTH
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import HALF, BytePlace, Effect, Ending
from mockapi.values.offset import After
from mockapi.values.strict import Strict, spelled_out

_CHUNKS: Final[Mapping[str, bytes]] = MappingProxyType(
    {
        "not hex": b"g5\r\nabcde\r\n0\r\n\r\n",
        "negative": b"-5\r\nabcde\r\n0\r\n\r\n",
        "huge": b"fffffffffffffffff\r\nabcde\r\n0\r\n\r\n",
        "short": b"ff\r\nabcde",
        "no line end": b"5\r\nabcde5\r\nabcde\r\n0\r\n\r\n",
    }
)


class MalformedChunk(Strict):
    """`how`: the size is no hexadecimal number, negative, or beyond 64 bits; the chunk is shorter than its size; or no
    line ends after its data. It comes `after` so much of the body (default: half).
    """

    how: Literal["not hex", "negative", "huge", "short", "no line end"] = Field(
        default="not hex",
        description="What is wrong: the size is not hexadecimal, negative or beyond 64 bits; the data is "
        "shorter than its size; no line ends after it.",
    )
    after: After = Field(default=HALF, description="Where in the body it comes, in bytes or as a share.")


def apply(plan: Plan, chunk: MalformedChunk, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets how the answer ends, replacing that of an earlier rule."""
    ending = Ending(BytePlace.IN_BODY, chunk.after, then=_CHUNKS[chunk.how], chunked=True)
    return replace(plan, delivery=replace(plan.delivery, ending=ending, hang=None))


FAULT = Fault(
    name="malformed_chunk",
    group="connection",
    summary="a chunk breaks the framing of the body",
    docs="a chunk that breaks the framing",
    takes=Annotated[MalformedChunk, spelled_out("how", str | MalformedChunk)],
    example="not hex",
    apply=apply,
    claims=(ENDING, LENGTH),
    inaction=unchanged(Effect.ENDING, "no answer had a body"),
)
