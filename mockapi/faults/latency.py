"""Latency: holds back the first byte of an answer, whatever the answer is.

It comes after the parse, if there is one, and occupies no parser. A client that gives up while it waits is journalled
as such.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.drawn_time import DrawnTime, Time, drawn, noted


def apply(plan: Plan, time: DrawnTime, draw: Draw) -> Plan:
    """Sets the wait, replacing that of an earlier rule."""
    wait = drawn(time, draw, "latency")
    return replace(plan, latency=wait, draws={**plan.draws, **noted("latency_s", wait)})


FAULT = Fault(
    name="latency",
    group="latency",
    summary="waits before the first byte of the answer, or for ever",
    docs="a time that passes before the headers; `never` waits until the client disconnects",
    takes=Time,
    example="10s",
    apply=apply,
)
