"""Latency: holds back the first byte of an answer, whatever the answer is.

The wait is fixed or log-normal; the log-normal one is a function of (seed, rule, key, attempt). A client that gives
up while it waits is journalled as such.
"""

from dataclasses import replace
from datetime import timedelta

from mockapi.draws import Draw, log_normal
from mockapi.faults.plan import Plan
from mockapi.rules.model import Do, Latency


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:
    """Sets the wait, replacing that of an earlier rule."""
    if do.latency is None:
        return plan
    wait = _wait(do.latency, draw)
    return replace(plan, latency=wait, draws={**plan.draws, "latency_s": wait.total_seconds()})


def _wait(latency: Latency, draw: Draw) -> timedelta:
    if latency.p50 is None or latency.p99 is None:
        return latency.fixed or timedelta(0)
    seconds = log_normal(draw.uniform("latency"), latency.p50.total_seconds(), latency.p99.total_seconds())
    wait = timedelta(seconds=seconds)
    return min(wait, latency.cap) if latency.cap is not None else wait
