"""Capacity: so many parses at once for all requests that meet the rule; the others queue in the order they came in.

So latency comes of load: with service time s and k parses, at most k/s renders a second leave, and what comes in
beyond that waits. Which request waits how long depends on the clients' timing and is no function of the seed.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.plan import Plan
from mockapi.rules.model import Do


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:
    """Names the rule whose parses this one is counted among, in place of an earlier rule."""
    return plan if do.capacity is None else replace(plan, capacity=draw.rule)
