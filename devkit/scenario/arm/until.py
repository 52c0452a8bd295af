"""Whether an arm has come to its end: one of its conditions, else its deadline."""

from collections.abc import Mapping

from devkit.observe.arm_end import ArmEnd, ConditionName, EndByCondition, EndByDeadline
from devkit.scenario.model import Until


def arm_end(until: Until, seen: Mapping[ConditionName, int], now_s: float, *, deadline_s: float) -> ArmEnd | None:
    """None while the arm goes on. `seen` has what each condition counts, `now_s` is since the arm began, without its
    warm-up.

    `deadline_s` is given besides `until`, as an arm that is debugged has none.
    """
    for condition in until.any:
        if all(seen[name] >= count for name, count in condition.wanted.items()):
            return EndByCondition(reached={name: seen[name] for name in condition.wanted})
    return EndByDeadline(deadline_s=deadline_s) if now_s > deadline_s else None
