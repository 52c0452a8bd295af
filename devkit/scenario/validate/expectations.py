"""Checks for expectations that no run can meet or break; each kind checks its own argument."""

from collections.abc import Iterator

from devkit.expectations.checked_arm import CheckedArm, CheckedProgram
from devkit.observe.arm_role import ArmName
from devkit.scenario.resolve import ResolvedArm, ResolvedScenario
from devkit.scenario.source_location import located_expectations
from devkit.traffic.model import TRAFFIC
from located_config.problem import Problem


def check_expectations(resolved: ResolvedScenario, *, are_playable: bool) -> Iterator[Problem]:
    """Problems with which the file can still be played, or those with which it cannot."""
    arms: dict[ArmName, CheckedArm] = {}
    for name, arm in resolved.arms.items():
        arms[name] = _checked(arm, arms)
    for name, checked in arms.items():
        for location, expectation in located_expectations(resolved.scenario, name):
            for flaw in expectation.check(checked):
                if flaw.is_playable is are_playable:
                    yield Problem((*location, *flaw.key), flaw.text)


def _checked(arm: ResolvedArm, arms: dict[ArmName, CheckedArm]) -> CheckedArm:
    scenario = arm.scenario
    windows = [rule.name for rule in arm.rules if rule.has_window]
    return CheckedArm(
        name=arm.name,
        arms=arms,
        programs={name: CheckedProgram(item.program, item.if_valid) for name, item in arm.programs.items()},
        expected=tuple((item.kind, item.argument) for item in scenario.expected_of(arm.name)),
        traffic=scenario.traffic,
        rules=tuple(rule.name for rule in arm.rules),
        phases=(*(item.name for item in arm.timeline), *windows, *scenario.traffic.named_phases, TRAFFIC),
        source_partitions=scenario.kafka.topics.source.partitions,
        has_ending_fault=bool(scenario.mock.fault_over),
        attempts=arm.supervisor.attempts,
        container=scenario.container,
    )
