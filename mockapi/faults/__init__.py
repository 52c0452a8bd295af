"""Faults: what a rule can do to an answer, a file a fault.

Every key of `Do` has its fault here, under the same name. A fault turns the plan so far into the next one and touches
nothing else; what a plan says is carried out by the routes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol

from mockapi.draws import Draw
from mockapi.faults import body, capacity, gateway_timeout, latency, parse, status
from mockapi.faults.plan import NOTHING, Plan
from mockapi.rules.model import Do, Rule


class Fault(Protocol):
    """Returns the plan with this fault of `do` in it, or as it was if `do` has none."""

    def __call__(self, plan: Plan, do: Do, draw: Draw) -> Plan: ...


FAULTS: Final[Mapping[str, Fault]] = MappingProxyType(
    {
        "latency": latency.apply,
        "status": status.apply,
        "body": body.apply,
        "parse": parse.apply,
        "capacity": capacity.apply,
        "gateway_timeout": gateway_timeout.apply,
    }
)


def plan_for(rules: Sequence[Rule], *, seed: int, key: str, attempt: int) -> Plan:
    """The plan that `rules`, all of which match, make in their order; draws are a function of the arguments."""
    if not rules:
        return NOTHING
    plan = replace(NOTHING, rules=tuple(rule.name for rule in rules))
    for rule in rules:
        for fault in FAULTS.values():
            plan = fault(plan, rule.do, Draw(seed, rule.name, key, attempt))
    return plan
