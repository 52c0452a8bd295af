"""Differences between incident and fix that `cause` does not name: each may be what makes the incident, too."""

from collections.abc import Iterator, Mapping

from devkit.observe.about import Difference
from devkit.observe.arm_role import in_role
from devkit.scenario.configure import OF_KIT, keys_of, main_name, programs_of, settings_of
from devkit.scenario.model import Scenario

_ALWAYS_WRITTEN = (*OF_KIT, "executors", "slots", "spark", "supervisor")
"""The first words of keys that have a value only where a file writes it."""


def undeclared_differences(scenario: Scenario, difference: Mapping[str, Difference]) -> tuple[str, ...]:
    """Keys of `difference` in which a fixed arm has another value than each incident arm has.

    Those are left out that no arm writes, as they follow from others. Where no cause is named, the file claims nothing.
    """
    if not scenario.cause:
        return ()
    named = {cause.differs for cause in scenario.cause}
    named |= {f"{kind}.{cause.fault}" for cause in scenario.cause for kind in ("mock", "timeline")}
    written = set(_written(scenario))
    return tuple(
        key
        for key, values in difference.items()
        if key not in named and _is_of_fix(scenario, values) and (_is_of_kit(key) or key in written)
    )


def _is_of_fix(scenario: Scenario, values: Difference) -> bool:
    """An incident arm that has the fix's value, and the incident, shows that the value is no fix."""
    incidents, fixes = ([values.get(arm) for arm in in_role(scenario.roles, role)] for role in ("incident", "fixed"))
    return any(value not in incidents for value in fixes)


def _is_of_kit(key: str) -> bool:
    parts = key.split(".")
    return (parts[2] if parts[0] == "programs" and len(parts) > 2 else parts[0]) in _ALWAYS_WRITTEN


def _written(scenario: Scenario) -> Iterator[str]:
    """The keys of the difference that the file writes, for the arms or for one, down to each part of a mapping."""
    for name in programs_of(scenario):
        before = "" if name == main_name(scenario) else f"programs.{name}."
        for arm in scenario.roles:
            yield from (f"{before}{key}" for key in keys_of(settings_of(scenario, arm, name)))
