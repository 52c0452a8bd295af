"""Database lag: how far the replicas say they are behind.

A request of the Action API with a `maxlag` below it is refused with `Retry-After`; without `maxlag` nothing happens, as
in MediaWiki.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.drawn_time import DrawnTime, FiniteTime, drawn_end, noted


def apply(plan: Plan, time: DrawnTime, draw: Draw) -> Plan:
    """Sets the lag, replacing that of an earlier rule."""
    lag = drawn_end(time, draw, "database_lag")
    state = replace(plan.state, lag=lag)
    return replace(plan, state=state, draws={**plan.draws, **noted("database_lag_s", lag)})


FAULT = Fault(
    name="database_lag",
    group="wiki",
    summary="the lag that maxlag of the Action API is compared with",
    docs="what `maxlag` of the Action API is compared with",
    takes=FiniteTime,
    example="7s",
    apply=apply,
)
