"""Latency: holds back the first byte of an answer, whatever the answer is.

It comes after the parse, if there is one, and occupies nobody. A client that gives up while it waits is journalled as
such.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.drawn_time import drawn
from mockapi.faults.plan import Plan
from mockapi.rules.model import Do


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:
    """Sets the wait, replacing that of an earlier rule."""
    if do.latency is None:
        return plan
    wait = drawn(do.latency, draw, "latency")
    return replace(plan, latency=wait, draws={**plan.draws, "latency_s": wait.total_seconds()})
