"""Missing: revisions that the wiki does not know, as if their pages had been deleted.

REST answers 404, the Action API lists them among `badrevids`; trying again never helps.
"""

from dataclasses import replace
from typing import Literal

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan


def apply(plan: Plan, on: Literal[True], draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """The wiki then answers as for a revision that it does not know."""
    return replace(plan, state=replace(plan.state, missing=on))


FAULT = Fault(
    name="missing",
    group="wiki",
    summary="a deleted revision: 404, or badrevids",
    docs="a deleted revision: 404, or among `badrevids`",
    takes=Literal[True],
    example=True,
    apply=apply,
)
