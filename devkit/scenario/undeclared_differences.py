"""Differences between incident and fix that `cause` does not name: each may be a cause, too."""

from collections.abc import Iterator

from devkit.observe.arm_role import in_role
from devkit.observe.timeline.run_metadata import Difference
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import KIT_KEYS, ResolvedScenario, kind_of
from located_config.dotted_keys import keys_of

_ALWAYS_WRITTEN = (*KIT_KEYS, "executors", "slots", "spark", "supervisor")
"""The first words of keys that have a value only if the file writes one."""


def undeclared_differences(resolved: ResolvedScenario) -> tuple[str, ...]:
    """Keys of the difference in which a fixed arm has another value than each incident arm has.

    Keys that no arm writes are left out, as they follow from others. Without a named cause the result is empty.
    """
    scenario = resolved.scenario
    if not scenario.cause:
        return ()
    named = {cause.differs for cause in scenario.cause}
    named |= {f"{kind}.{cause.fault}" for cause in scenario.cause for kind in ("mock", "timeline")}
    written = set(_written_keys(resolved))
    return tuple(
        key
        for key, values in resolved.difference.items()
        if key not in named and _may_be_fix(scenario, values) and (_is_kit_key(key) or key in written)
    )


def _may_be_fix(scenario: Scenario, values: Difference) -> bool:
    """An incident arm that has the fix's value, and the incident, shows that the value is no fix."""
    incidents, fixes = ([values.get(arm) for arm in in_role(scenario.roles, role)] for role in ("incident", "fixed"))
    return any(value not in incidents for value in fixes)


def _is_kit_key(key: str) -> bool:
    return kind_of(key) in _ALWAYS_WRITTEN


def _written_keys(resolved: ResolvedScenario) -> Iterator[str]:
    """The keys that the file writes, for all arms or for one, down to each part of a mapping."""
    for name in resolved.programs:
        before = "" if name == resolved.main_name else f"programs.{name}."
        for arm in resolved.arms.values():
            yield from (f"{before}{key}" for key in keys_of(arm.programs[name].settings))
