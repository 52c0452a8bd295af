"""Capacity: so many parses at once for all requests that meet the rule; the others queue in the order they came in.

So latency comes of load: with service time s and k parses, at most k/s renders a second leave, and what comes in
beyond that waits. Which request waits how long depends on the clients' timing and is no function of the seed.
"""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.strict import Strict


class Capacity(Strict):
    """How many renders may be under way at once among all requests that meet the rule; the others queue.

    The queue is as long as it has to be, or holds at most `queue`; who finds it full gets `overflow` at once.
    """

    parses: int = Field(ge=1, strict=True)
    queue: int | None = Field(default=None, ge=0, strict=True)
    overflow: Literal[503, 429] = 503


def apply(plan: Plan, capacity: Capacity, draw: Draw) -> Plan:  # noqa: ARG001 - the pool has the rule's figures
    """Names the rule whose parses this one is counted among, in place of an earlier rule."""
    return replace(plan, capacity=draw.rule)


FAULT = Fault(
    "capacity",
    "upstream",
    "so many parses at once, the others queue; overflow 503 or 429",
    {"parses": 4, "queue": 100},
    apply,
    promised=False,
)
