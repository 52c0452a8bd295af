"""Charset: Content-Type names another character encoding, or none, while the bytes stay UTF-8."""

from dataclasses import replace

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.strict import Strict


class Charset(Strict):
    """What the parameter of the header `says`; `none` takes it away."""

    says: str = Field(pattern=r"^[A-Za-z0-9_.:-]+$", max_length=40)


def apply(plan: Plan, charset: Charset, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the parameter, replacing that of an earlier rule."""
    says = "" if charset.says == "none" else charset.says
    return replace(plan, delivery=replace(plan.delivery, charset=says))


FAULT = Fault("charset", "body", "Content-Type names another charset; the bytes stay UTF-8", "iso-8859-1", apply)
