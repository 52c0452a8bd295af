"""Degradation: an answer takes the longer, the longer the wiki has been asked.

The time added before the first byte grows evenly from 0 to `adds` within `over`, from the first request to the wiki, or
from when the rule came into force if that was later, and from `after` on; then it stays. It comes on top of other
latency, and depends on time.
"""

from dataclasses import replace
from datetime import timedelta

from pydantic import Field

from located_config.duration import Duration, PositiveDuration
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.strict import Strict


class Degradation(Strict):
    """Latency that grows evenly from 0 to `adds`, and stays there."""

    adds: PositiveDuration = Field(description="Latency that is added at the end of the ramp.")
    over: PositiveDuration = Field(description="Time that the ramp takes.")
    after: Duration = Field(default=timedelta(0), description="Time before the ramp begins.")


def apply(plan: Plan, ramp: Degradation, draw: Draw) -> Plan:
    """Adds to the latency of the request; an answer that never comes stays away."""
    if plan.latency is None:
        return plan
    way = (draw.age_s - ramp.after.total_seconds()) / ramp.over.total_seconds()
    added = ramp.adds * min(1.0, max(0.0, way))
    return replace(plan, latency=plan.latency + added, draws={**plan.draws, "degradation_s": added.total_seconds()})


FAULT = Fault(
    name="degradation",
    group="latency",
    summary="adds a wait that grows with time",
    docs="a wait on top, growing evenly from when a window would begin; `after` begins later",
    takes=Degradation,
    example={"adds": "5s", "over": "60s"},
    apply=apply,
    deterministic=False,
)
