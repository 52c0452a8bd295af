"""Parser cache: the first fetch of a revision parses, which `parse` makes slow; later ones find it rendered.

A render is there once its parse is through, also when its client has disconnected by then. The cache is a state of the
wiki and lasts until the mock gets another state. Which request comes first is a matter of order.
"""

from dataclasses import replace
from typing import Literal

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan


def apply(plan: Plan, on: Literal[True], draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """A revision that was rendered before takes no parse."""
    return replace(plan, parser_cache=on)


FAULT = Fault(
    name="parser_cache",
    group="wiki",
    summary="a revision is parsed on its first fetch only",
    docs="a revision is parsed on its first fetch only",
    takes=Literal[True],
    example=True,
    apply=apply,
    deterministic=False,
)
