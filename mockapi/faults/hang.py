"""Hang: the request is read and never answered, and nothing more is read from its connection.

It lasts until the client disconnects or the rule is no longer effective; then the connection is closed. The wiki behind
has no part in it, so no parse begins.
"""

from dataclasses import replace
from typing import Literal

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan


def apply(plan: Plan, hang: Literal[True], draw: Draw) -> Plan:  # noqa: ARG001 - true is all it can be
    """Names the rule that holds the request, in place of another ending by an earlier rule."""
    return replace(plan, delivery=replace(plan.delivery, hang=draw.rule, ending=None))


FAULT = Fault(
    name="hang",
    group="connection",
    summary="the request is never answered and its connection no longer read",
    docs="the request is never answered and its connection no longer read",
    takes=Literal[True],
    example=True,
    apply=apply,
    alone=True,
)
