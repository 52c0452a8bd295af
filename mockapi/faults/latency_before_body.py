"""Latency between the headers and the body.

A client with a timeout for the first byte only does not notice it.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.values.drawn_time import DrawnTime, Time, drawn, noted


def apply(plan: Plan, time: DrawnTime, draw: Draw) -> Plan:
    """Sets the time, replacing that of an earlier rule."""
    length = drawn(time, draw, "latency_before_body")
    delivery = replace(plan.delivery, before_body=length)
    return replace(plan, delivery=delivery, draws={**plan.draws, **noted("latency_before_body_s", length)})


FAULT = Fault(
    name="latency_before_body",
    group="latency",
    summary="waits between headers and body, or for ever",
    docs="a time between the headers and the body",
    takes=Time,
    example="5s",
    apply=apply,
    inaction=unchanged(Effect.WAIT, "no answer had a body, or the time was 0"),
)
