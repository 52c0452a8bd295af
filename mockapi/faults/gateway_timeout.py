"""Gateway timeout: a proxy in front of the wiki that waits for an answer so long and no longer.

The time counts from the request's arrival and covers everything behind the proxy: queue, parse, latency, rendering.
The client then gets envoy's 504, and the parse behind goes on, since PHP does not notice: it keeps its place in the
queue and takes its slot for the full time. Whether a request is overtaken so depends on load, not on the seed.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.plan import Plan
from mockapi.rules.model import Do, Status

ANSWER = Status(code=504)


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:  # noqa: ARG001 - every fault is applied with the same arguments
    """Sets the time, replacing that of an earlier rule."""
    return plan if do.gateway_timeout is None else replace(plan, gateway_timeout=do.gateway_timeout)
