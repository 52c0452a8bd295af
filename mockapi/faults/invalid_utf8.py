"""Invalid UTF-8: some bytes of the document become 0xFF, which no UTF-8 text contains.

They replace what was there, so that a document of exact size keeps it. The answer goes out without a content coding.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.body import BodyChange
from mockapi.faults.fault import Clash, Fault
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import HALF, BrokenText, Effect
from mockapi.values.offset import After
from mockapi.values.strict import Strict, spelled_out


class InvalidUtf8(Strict):
    """`bytes` bytes in a row, `at` a place of the document (default: its middle)."""

    bytes: int = Field(ge=1, le=1 << 20, strict=True, description="Number of invalid bytes in a row.")
    at: After = Field(default=HALF, description="Where in the document they stand, in bytes or as a share.")


def apply(plan: Plan, invalid: InvalidUtf8, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets what is broken, replacing that of an earlier rule."""
    return replace(plan, delivery=replace(plan.delivery, broken=BrokenText(invalid.bytes, invalid.at)))


def clash(invalid: InvalidUtf8, given: Mapping[str, object]) -> Clash | None:  # noqa: ARG001 - whatever is broken
    """A coding of the body."""
    body = given.get("body")
    if isinstance(body, BodyChange) and body.encoded:
        return Clash("body.encoding", "a broken document goes out without a coding: leave it out")
    return None


FAULT = Fault(
    name="invalid_utf8",
    group="body",
    summary="this number of bytes of the document is not UTF-8",
    docs="this number of bytes is not UTF-8; the length stays",
    takes=Annotated[InvalidUtf8, spelled_out("bytes", int | InvalidUtf8)],
    example={"bytes": 3, "at": "50%"},
    apply=apply,
    clash=clash,
    inaction=unchanged(Effect.TEXT, "no answer had a body"),
)
