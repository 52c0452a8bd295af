"""Hidden: parts of a revision that were revision-deleted or suppressed.

REST answers 403 where the text is hidden and null where user or comment are; the Action API has `texthidden` and the
like.
"""

from dataclasses import replace
from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.strict import Strict
from mockapi.wiki.catalog import HiddenPart


class HiddenFault(Strict):
    """`parts`, at least one of them; `suppressed` hides them from administrators too."""

    parts: tuple[HiddenPart, ...] = Field(description="Parts of the revision that are hidden, at least one, each once.")
    suppressed: bool = Field(default=False, description="Whether they are hidden from administrators too.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if not self.parts or len(set(self.parts)) < len(self.parts):
            what = "a part is there twice" if self.parts else "no part"
            raise PydanticCustomError("hidden", "{what}", {"what": what, "hint": "text, user, comment, each once"})
        return self


def apply(plan: Plan, hidden: HiddenFault, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Hides the parts on top of those that are hidden already."""
    state = replace(
        plan.state,
        hidden=plan.state.hidden | frozenset(hidden.parts),
        suppressed=plan.state.suppressed or hidden.suppressed,
    )
    return replace(plan, state=state)


FAULT = Fault(
    name="hidden",
    group="wiki",
    summary="revision-deleted text, user or comment",
    docs="revision-deleted `text`, `user` or `comment`; `suppressed: true` hides them from everybody",
    takes=HiddenFault,
    example={"parts": ["text"]},
    apply=apply,
)
