"""Charset: Content-Type names another character encoding, or none, while the bytes stay UTF-8."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.values.strict import Strict, spelled_out


class Charset(Strict):
    """What the parameter of the header `says`; `none` takes it away."""

    says: str = Field(
        pattern=r"^[A-Za-z0-9_.:-]+$",
        max_length=40,
        description="Value of the `charset` parameter; `none` takes the parameter away.",
    )


def apply(plan: Plan, charset: Charset, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the parameter, replacing that of an earlier rule."""
    says = "" if charset.says == "none" else charset.says
    return replace(plan, delivery=replace(plan.delivery, charset=says))


FAULT = Fault(
    name="charset",
    group="body",
    summary="Content-Type names another charset; the bytes stay UTF-8",
    docs="the header names a charset that the bytes do not have",
    takes=Annotated[Charset, spelled_out("says", str | Charset)],
    example="iso-8859-1",
    apply=apply,
    inaction=unchanged(Effect.CHARSET, "each answer had that charset anyway, or no Content-Type"),
)
