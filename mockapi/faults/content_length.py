"""Content length: the header says something else than how long the body is.

`compressed` is what a proxy leaves behind that unpacks an answer and forgets the header: the body is plain, the length
that of its gzip. `decoded` is the reverse mistake, and only one if the client accepts a coding. After a body whose
length was a lie the connection ends (FIN), for a client could not tell where the next answer begins; `absent` sends the
body in chunks and is no lie.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.draws import Draw
from mockapi.faults.body import BodyChange
from mockapi.faults.fault import Clash, Fault
from mockapi.faults.slots import LENGTH
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect, Length
from mockapi.values.strict import Strict, spelled_out


class ContentLength(Strict):
    """What the header `says`, or by how many bytes it is `off_by`: above 0 too large, below too small."""

    says: Literal["compressed", "decoded", "absent", "negative"] | None = Field(
        default=None,
        description="Value of `Content-Length`: the length as compressed, as decoded, a negative one, or no "
        "header at all.",
    )
    off_by: int | None = Field(
        default=None, strict=True, description="Bytes by which the header is wrong: too large above 0, too small below."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.says is None) == (self.off_by is None) or self.off_by == 0:
            raise PydanticCustomError(
                "length_form",
                "not a wrong length",
                {"hint": "one of compressed, decoded, absent, negative, or {off_by: 10} with a number other than 0"},
            )
        return self


def apply(plan: Plan, length: ContentLength, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets what the header says, replacing that of an earlier rule."""
    wrong = Length(length.says or "off by", length.off_by or 0)
    return replace(plan, delivery=replace(plan.delivery, length=wrong))


def clash(length: ContentLength, given: Mapping[str, object]) -> Clash | None:
    """A coding of the body, if the length is to be that of one."""
    body = given.get("body")
    if length.says == "compressed" and isinstance(body, BodyChange) and body.encoded:
        return Clash("body.encoding", "`compressed` means that the body is plain: leave it out")
    return None


FAULT = Fault(
    name="content_length",
    group="body",
    summary="Content-Length says something else",
    docs="the header says something else: `compressed`, `decoded`, `absent`, `negative`, `{off_by: +10}`",
    takes=Annotated[ContentLength, spelled_out("says", str | ContentLength)],
    example="compressed",
    apply=apply,
    claims=(LENGTH,),
    clash=clash,
    inaction=unchanged(Effect.LENGTH, "each answer had that header anyway"),
)
