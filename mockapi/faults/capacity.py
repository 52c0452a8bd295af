"""Capacity: a number of parses at once for all requests that match the rule; the others queue in the order they came
in.

So latency comes of load: with service time s and k parses, at most k/s renders a second leave, and what comes in
beyond that waits. Which request waits how long depends on the clients' timing and is no function of the seed.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import Met
from mockapi.values.strict import Strict, spelled_out


class Capacity(Strict):
    """How many renders may be under way at once among all requests that meet the rule; the others queue.

    The queue is as long as it has to be, or holds at most `queue`; who finds it full gets `overflow` at once.
    """

    parses: int = Field(
        ge=1, strict=True, description="Number of renders that may be under way at once; more wait in a queue."
    )
    queue: int | None = Field(
        default=None, ge=0, strict=True, description="Number of requests that may wait. Default: without a bound."
    )
    overflow: Literal[503, 429] = Field(default=503, description="HTTP status for a request that finds the queue full.")


def apply(plan: Plan, capacity: Capacity, draw: Draw) -> Plan:  # noqa: ARG001 - the pool has the rule's figures
    """Names the rule whose parses this one is counted among, in place of an earlier rule."""
    return replace(plan, capacity=draw.rule)


def inaction(capacity: Capacity, met: Met) -> str:
    """Nothing once a request queued or was turned away; the queues of all rules count together, so with several
    capacities one that queued proves them all.
    """
    return "" if met.max_queued or met.by_status.get(str(capacity.overflow)) else "no request had to queue"


FAULT = Fault(
    name="capacity",
    group="upstream",
    summary="a number of parses at once, the others queue; overflow 503 or 429",
    docs=(
        "this number of parses at once for all requests that match the rule, the others queue; latency follows load. "
        "Who finds the queue full gets `overflow`, 503 or 429"
    ),
    takes=Annotated[Capacity, spelled_out("parses", int | Capacity)],
    example={"parses": 4, "queue": 100},
    apply=apply,
    deterministic=False,
    inaction=inaction,
)
