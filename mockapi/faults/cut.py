"""Where a connection can break under an answer; what `reset` and `close` have in common."""

from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.plan import Plan
from mockapi.server.delivery import HALF, BytePlace, Ending
from mockapi.values.offset import After
from mockapi.values.strict import Strict


class Cut(Strict):
    """The place: nothing of the answer, a part of the headers, the headers, or a part of the body is sent by then.

    `after` says how much of the headers or of the body, in bytes on the wire or as a share (default: half).
    """

    at: Literal["before headers", "in headers", "before body", "in body"] = Field(
        default="before headers", description="How much of the answer has been sent when the connection ends."
    )
    after: After | None = Field(
        default=None,
        description="Bytes on the wire, or share, of the headers or the body that are sent by then. Default: half.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.after is not None and self.at in {"before headers", "before body"}:
            raise PydanticCustomError(
                "cut_form", "after without a run of bytes", {"hint": "it needs at: in headers, or at: in body"}
            )
        return self


def cut_off(plan: Plan, cut: Cut, *, reset: bool) -> Plan:
    """The plan with an answer that ends there, in place of an earlier ending."""
    ending = Ending(BytePlace(cut.at), cut.after or HALF, reset=reset)
    return replace(plan, delivery=replace(plan.delivery, ending=ending, hang=None))
