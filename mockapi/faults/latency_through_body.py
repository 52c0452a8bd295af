"""Latency spread over the body: the last byte is sent this time after the first.

A client with a timeout for the first byte only does not notice it.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import PACE
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.values.drawn_time import DrawnTime, Time, drawn, noted


def apply(plan: Plan, time: DrawnTime, draw: Draw) -> Plan:
    """Sets the time, replacing that of an earlier rule."""
    length = drawn(time, draw, "latency_through_body")
    delivery = replace(plan.delivery, through_body=length)
    return replace(plan, delivery=delivery, draws={**plan.draws, **noted("latency_through_body_s", length)})


FAULT = Fault(
    name="latency_through_body",
    group="latency",
    summary="spreads the body over that time, or for ever",
    docs="the body is spread over that time",
    takes=Time,
    example="5s",
    apply=apply,
    claims=(PACE,),
    inaction=unchanged(Effect.PACE, "each body was too short to be slowed, or the time was 0"),
)
