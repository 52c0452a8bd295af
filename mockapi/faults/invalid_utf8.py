"""Invalid UTF-8: some bytes of the document become 0xFF, which no UTF-8 text contains.

They replace what was there, so that a document of exact size keeps it. The answer goes out without a content coding.
"""

from dataclasses import replace

from pydantic import Field

from mockapi.delivery.delivery import HALF, BrokenText
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.offset import After
from mockapi.values.strict import Strict


class InvalidUtf8(Strict):
    """So many `bytes` in a row, `at` a place of the document (default: its middle)."""

    bytes: int = Field(ge=1, le=1 << 20, strict=True)
    at: After = HALF


def apply(plan: Plan, invalid: InvalidUtf8, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets what is broken, replacing that of an earlier rule."""
    return replace(plan, delivery=replace(plan.delivery, broken=BrokenText(invalid.bytes, invalid.at)))


FAULT = Fault("invalid_utf8", "body", "so many bytes of the document are no UTF-8", {"bytes": 3, "at": "50%"}, apply)
