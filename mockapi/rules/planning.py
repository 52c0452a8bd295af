"""The plan that rules make for one request."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mockapi.draws import Draw
from mockapi.plan import NOTHING, Plan
from mockapi.rules.model import Rule


def plan_for(
    rules: Sequence[Rule], *, seed: int, key: str, attempt: int, age_s: Callable[[str], float] = lambda _: 0.0
) -> Plan:
    """The plan that `rules`, all of which match, make in their order; draws are a function of the arguments.

    `age_s` says how long a rule, by its name, has been effective: for what depends on time.
    """
    if not rules:
        return NOTHING
    plan = replace(NOTHING, rules=tuple(rule.name for rule in rules))
    for rule in rules:
        draw = Draw(seed, rule.name, key, attempt, age_s(rule.name))
        for fault, parameters in rule.do.given():
            plan = fault.apply(plan, parameters, draw)
    return plan
