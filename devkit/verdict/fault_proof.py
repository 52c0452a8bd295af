"""Whether the faults of a run acted, by the evidence of all its arms.

A rule of the mock must match a request in each arm. A rule that selects requests by what clients do, such as a second
attempt, need not match in a fixed arm. A rule that acts only under load (a capacity, a gateway's timeout, a rate limit)
must also act in one of the arms; a fix may remove the load, so fixed arms played alone need not show it.

A fault of the timeline must begin, and its part must show it, in each of its arms. `devkit.verdict.unmet_faults` checks
that a fixed arm meets the faults of the incident arms.
"""

from collections.abc import Iterator, Mapping, Sequence

from devkit.observe.arm_observation import AnyEvidence, TimelineEvidence
from devkit.observe.arm_role import ArmName, ArmRole, Roles
from located_config.count import counted

ByArm = Mapping[ArmName, Sequence[AnyEvidence]]
"""The evidence of each played arm, empty if it had no fault."""


def fault_names(played: ByArm) -> tuple[str, ...]:
    """The names without repeats, in the order of the arms."""
    return tuple(dict.fromkeys(item.fault for items in played.values() for item in items))


def unproven(fault: str, played: ByArm, roles: Roles) -> list[str]:
    """A sentence for each arm in which the fault is not known to have acted as it had to."""
    having = _find_evidence(fault, played)
    if not having:
        return ["no arm has it"]
    acted = arms_with(fault, played)
    reasons = {arm: unproven_in(roles[arm], item, acted=bool(acted)) for arm, item in having.items()}
    return [f"{arm}: {reason}" for arm, reason in reasons.items() if reason]


def arms_with(fault: str, played: ByArm) -> tuple[ArmName, ...]:
    """The arms in which the fault acted."""
    having = _find_evidence(fault, played)
    return tuple(arm for arm, item in having.items() if item.fired and item.acted is not False)


def arms_without_any(played: ByArm, roles: Roles) -> Iterator[str]:
    """A sentence for each arm without a fault, if faults alone are the cause."""
    incident_items = [item for arm, items in played.items() if roles[arm] == "incident" for item in items]
    timeline_alone = bool(incident_items) and all(isinstance(item, TimelineEvidence) for item in incident_items)
    for arm, items in played.items():
        if not items and not (roles[arm] == "fixed" and timeline_alone):
            yield f"{arm}: no fault was injected, so nothing shows that the incident's cause was present"


def _find_evidence(fault: str, played: ByArm) -> dict[ArmName, AnyEvidence]:
    return {arm: item for arm, items in played.items() for item in items if item.fault == fault}


def unproven_in(role: ArmRole, item: AnyEvidence, *, acted: bool) -> str | None:
    """Why a fault is not known to have acted in one arm; `acted` says whether it did in any arm."""
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
