"""Gateway timeout: a proxy in front of the wiki that waits for an answer for a limited time.

The time counts from the request's arrival and covers everything behind the proxy: queue, parse, latency, rendering.
The client then gets envoy's 504, and the parse behind goes on, since PHP does not notice: it keeps its place in the
queue and takes its slot for the full time. Whether a request is overtaken so depends on load, not on the seed.
"""

from dataclasses import replace
from datetime import timedelta

from located_config.duration import PositiveDuration
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan, StatusAnswer
from mockapi.rules.proof import Met

ANSWER = StatusAnswer(code=504)


def apply(plan: Plan, limit: timedelta, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the time, replacing that of an earlier rule."""
    return replace(plan, gateway_timeout=limit)


def inaction(limit: timedelta, met: Met) -> str:  # noqa: ARG001 - whatever the time is
    """Nothing once a client got the 504."""
    return "" if met.by_status.get(str(ANSWER.code)) else f"no answer was {ANSWER.code}"


FAULT = Fault(
    name="gateway_timeout",
    group="proxy",
    summary="a proxy in front answers 504 after that time, while the parse behind goes on",
    docs=(
        "a proxy in front: 504 in envoy's words after that time, while the parse behind keeps its place and takes its "
        "slot"
    ),
    takes=PositiveDuration,
    example="1s",
    apply=apply,
    deterministic=False,
    inaction=inaction,
)
