"""Whether the faults of a run were seen to act, by what is known of all its arms together.

A rule of the mock fired in an arm when it matched a request there. One that picks its requests by what clients do (a
second attempt, say) need not fire in a fixed arm. One that acts under load only (a capacity, a gateway's timeout, a
rate limit) must besides be seen to act in one of the arms. Which one is what the arms differ in: a fix may well take
the load away, so fixed arms played by themselves need not show it.

A fault of the timeline must have begun and its part must have shown it, in each arm that it is for. That a fixed arm
meets what an incident arm met is asked elsewhere (`devkit.verdict.unmet_faults`).
"""

from collections.abc import Iterator, Mapping, Sequence

from devkit.observe.arm_observation import AnyEvidence, TimelineEvidence
from devkit.observe.arm_role import ArmName, ArmRole, Roles
from located_config.count import counted

ByArm = Mapping[ArmName, Sequence[AnyEvidence]]
"""The evidence of each arm that was played, empty where it had no fault."""


def fault_names(played: ByArm) -> tuple[str, ...]:
    """Each once, in the order in which the arms have them."""
    return tuple(dict.fromkeys(item.fault for items in played.values() for item in items))


def unproven(fault: str, played: ByArm, roles: Roles) -> list[str]:
    """Why the fault is not known to have acted where it had to, a sentence for each arm; empty where it is known."""
    having = _find_evidence(fault, played)
    if not having:
        return ["no arm has it"]
    acted = arms_with(fault, played)
    reasons = {arm: unproven_in(roles[arm], item, acted=bool(acted)) for arm, item in having.items()}
    return [f"{arm}: {reason}" for arm, reason in reasons.items() if reason]


def arms_with(fault: str, played: ByArm) -> tuple[ArmName, ...]:
    """The arms in which it acted."""
    having = _find_evidence(fault, played)
    return tuple(arm for arm, item in having.items() if item.fired and item.acted is not False)


def arms_without_any(played: ByArm, roles: Roles) -> Iterator[str]:
    """A sentence for each arm that shows nothing of the incident where faults are all that make it."""
    of_incidents = [item for arm, items in played.items() if roles[arm] == "incident" for item in items]
    timeline_alone = bool(of_incidents) and all(isinstance(item, TimelineEvidence) for item in of_incidents)
    for arm, items in played.items():
        if not items and not (roles[arm] == "fixed" and timeline_alone):
            yield f"{arm}: no fault was injected, so nothing shows that the incident's cause was present"


def _find_evidence(fault: str, played: ByArm) -> dict[ArmName, AnyEvidence]:
    return {arm: item for arm, items in played.items() for item in items if item.fault == fault}


def unproven_in(role: ArmRole, item: AnyEvidence, *, acted: bool) -> str | None:
    """Why a fault is not known to have acted in one arm; `acted` is whether it did in any."""
    if isinstance(item, TimelineEvidence):
        if not item.fired:
            came = f": {item.did}" if item.did else ""
            return f"fault {item.fault!r} never began ({item.asked}){came}"
        return None if item.acted else f"fault {item.fault!r} was not seen to act: {item.did}"
    if not item.fired:
        return None if role == "fixed" and item.by_client else f"fault {item.fault!r} matched no request{item.spans}"
    if item.acted is False and role == "incident" and not acted:
        matched = counted(item.requests, "request")
        return f"fault {item.fault!r} matched {matched} and never acted: {item.inaction}"
    return None
