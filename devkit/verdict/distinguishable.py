"""Whether the expectations of a scenario distinguish incident arms from fixed ones.

If each of two arms meets all expectations of the other, they show neither an incident nor a fix.
"""

from collections.abc import Mapping
from dataclasses import replace

from devkit.observe.arm_observation import ArmObservation, ComparedArm
from devkit.observe.arm_role import ArmName, in_role
from devkit.scenario.model import Scenario


def find_indistinguishable(scenario: Scenario, played: Mapping[ArmName, ArmObservation]) -> tuple[str, ...]:
    """A sentence for each pair of an incident and a fixed arm that no expectation distinguishes."""
    return tuple(
        f"nothing that is expected tells {incident} from {fixed}: {fixed} does all that {incident} is expected to do, "
        f"and {incident} all that {fixed} is; expect something that only one of them does"
        for incident in in_role(scenario.roles, "incident")
        for fixed in in_role(scenario.roles, "fixed")
        if {incident, fixed} <= played.keys()
        and _meets_all(scenario, incident, played[fixed])
        and _meets_all(scenario, fixed, played[incident])
    )


def _meets_all(scenario: Scenario, arm: ArmName, other: ArmObservation) -> bool:
    """Whether the other arm meets all expectations of this one; arms are compared with the other arm itself."""
    compared = replace(other, arms=dict.fromkeys(scenario.roles, ComparedArm(other)))
    return all(expectation.judge(compared).holds for expectation in scenario.expected_of(arm))
