"""Faults of an incident arm that a fixed arm did not meet.

A fixed arm that holds without the fault shows no fix, unless its absence is the fix:
`{fault: X, absent_in: [fixed]}`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import AnyEvidence, ArmObservation, TimelineEvidence
from devkit.observe.arm_role import ArmName, in_role
from devkit.scenario.model import Scenario
from devkit.verdict.fault_proof import ByArm, arms_with, unproven_in


def not_started(scenario: Scenario, observed: Mapping[ArmName, ArmObservation]) -> frozenset[ArmName]:
    """The arms that were expected never to run, and did not: no fault can act on them."""
    return frozenset(
        arm
        for arm, seen in observed.items()
        if (scenario.may_refuse(arm) or scenario.may_never_run(arm, seen.main.name)) and not _has_run(seen)
    )


def _has_run(seen: ArmObservation) -> bool:
    return not isinstance(seen.end, EndByRefusal) if seen.main.ran is None else seen.main.ran


def unmet_faults(scenario: Scenario, observed: Mapping[ArmName, ArmObservation]) -> tuple[str, ...]:
    """A sentence for each unmet fault, by fixed arm. All faults of an unobserved incident arm count as met there."""
    evidence = {arm: seen.evidence for arm, seen in observed.items()}
    idle = not_started(scenario, observed)
    fixes = [arm for arm in in_role(scenario.roles, "fixed") if arm in observed and arm not in idle]
    met = {
        fault: arm
        for arm in reversed(in_role(scenario.roles, "incident"))
        for fault in scenario.faults_of(arm)
        if arm not in observed or arm in arms_with(fault, evidence)
    }
    return tuple(
        f"{fixed}: {sentence}"
        for fixed, (fault, incident) in product(fixes, met.items())
        if fixed not in scenario.absent_in(fault)
        for sentence in _explain(scenario, fault, incident, fixed, evidence[fixed])
    )


def _explain(
    scenario: Scenario, fault: str, incident: ArmName, fixed: ArmName, evidence: Sequence[AnyEvidence]
) -> Iterator[str]:
    if fault not in scenario.faults_of(fixed):
        yield (
            f"fault {fault!r} is in arm {incident} and not in this one, so nothing shows that the fix withstands it; "
            f"give it to {fixed} as well, or write `cause: [{{ fault: {fault}, absent_in: [{fixed}] }}]` if its "
            "absence is the fix"
        )
        return
    any_of_timeline = any(cause.timeline for cause in scenario.cause)
    for item in evidence:
        is_excused = any_of_timeline and isinstance(item, TimelineEvidence)
        if item.fault == fault and not is_excused and (reason := unproven_in("fixed", item, acted=True)):
            yield f"{reason}, and it is in arm {incident}, so nothing shows that the fix withstands it"


def unreached(played: ByArm) -> list[str]:
    """A sentence for each fault and arm where no record reached the topic or partition that the fault made."""
    return [
        f"{arm}: fault {item.fault!r} acted, and no traffic reached what it made: no record came to {item.unreached}"
        for arm, items in played.items()
        for item in items
        if isinstance(item, TimelineEvidence) and item.unreached
    ]
