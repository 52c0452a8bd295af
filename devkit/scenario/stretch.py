"""A scenario played slower: every duration multiplied and every rate divided by a number, in all arms.

So the machine has that many times as long for the same work, and the ratio that carries the incident stays. The
configuration is resolved first: a timeout that was not written is stretched as well. What is no value of a model (a
variable of an environment, a command's own settings, a file that a kind of program reads as it is) is not: a scenario
that has any keeps the file's times unless a person says otherwise, or the ratio would be lost.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.headroom.stretched_model import stretched
from devkit.observe.arm_role import ArmName
from devkit.programs.places import merge
from devkit.scenario.arm_step import ArmStep
from devkit.scenario.arms import ArmSettings
from devkit.scenario.launch_settings import LaunchSettings
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedProgram, ResolvedScenario

_OF_ARM = ("container", "kafka", "mock", "start", "steps", "timeline", *LaunchSettings.model_fields)
"""What an arm has of its own besides configuration and its supervisor."""
_TIME_OF_SPARK = re.compile(r"\d+(us|ms|s|min|h|d)")


def stretch_scenario(resolved: ResolvedScenario, by: int) -> Scenario:
    """Raises UsageError where a stretched value is beyond what its key allows."""
    scenario = resolved.scenario
    if by == 1:
        return scenario

    def arm(name: ArmName) -> dict[str, Any]:
        own: dict[str, Any] = {key: getattr(slower.arms[name], key) for key in _OF_ARM}
        own["steps"] = tuple(step(name, one) for one in own["steps"])
        if scenario.arms[name].supervisor is not None:
            # As a whole: what an arm leaves to the shared policy must not become the stretched default.
            own["supervisor"] = stretched(resolved.arms[name].supervisor, by)
        return settings(name) | own

    def settings(name: ArmName) -> dict[str, Any]:
        changes = {each: _changes(one, by) for each, one in resolved.arms[name].programs.items()}
        if not scenario.programs:
            return merge(scenario.overlay(name), changes[resolved.main_name])
        # By name, as what programs share lies below.
        own = {each: one.model_dump() for each, one in scenario.arms[name].programs.items()}
        stretched_own = {each: {"configuration": one} for each, one in changes.items()}
        return {**scenario.overlay(name), "programs": merge(own, stretched_own)}

    def step(name: ArmName, one: ArmStep) -> ArmStep:
        if one.start is None or not one.start.configuration:
            return one
        overlay = one.start.configuration
        changes = _changes(resolved.arms[name].main.with_settings(overlay), by)
        start = one.start.model_copy(update={"configuration": merge(overlay, changes)})
        return one.model_copy(update={"start": start})

    def tried(name: ArmName) -> dict[str, Any] | None:
        found = resolved.arms[name].tried_first
        return None if found is None else merge(scenario.tried_first_in(name) or {}, _changes(found, by))

    try:
        slower = stretched(scenario, by).in_directory_of(scenario)
        arms = {name: ArmSettings.model_validate(arm(name) | {"role": role}) for name, role in scenario.roles.items()}
        tries = {name: tried(name) for name in arms}
    except (ValidationError, OverflowError) as error:
        raise UsageError(
            f"{scenario.name} cannot be stretched by {by}: {_reason(error)}",
            hint="--stretch 1 plays it as its file says",
        ) from error
    return slower.model_copy(update={"arms": arms, "tried_first": tries, "time_scale": scenario.time_scale / by})


def not_stretched(resolved: ResolvedScenario) -> tuple[str, ...]:
    """The settings of its programs that no stretch reaches, each with the program's name where it has one.

    A variable or an argument counts that has a figure in it: which of them are times is unknown, unless the file says
    `time_based: false` of it.
    """
    found = [(name, program.unstretchable) for name, program in resolved.programs.items() if program.unstretchable]
    for name in resolved.programs:
        launched = [arm.programs[name].launch for arm in resolved.arms.values()]
        variables = [item for one in launched for item in one.environment.items()]
        with_figures = dict.fromkeys(key for key, one in variables if one.time_based and _has_figure(one.value))
        found += [(name, f"the variable {key}") for key in with_figures]
        settings = [item for one in launched for item in one.spark.items()]
        found += [
            (name, key) for key in dict.fromkeys(key for key, value in settings if _TIME_OF_SPARK.fullmatch(value))
        ]
        if any(_has_figure(word) for one in launched for word in one.arguments):
            found.append((name, "its arguments"))
        if any(one.raw_config is not None and one.raw_config.time_based for one in launched):
            found.append((name, "its raw configuration"))
    return tuple(f"{what} (program {name})" if name else what for name, what in found)


def _has_figure(text: str) -> bool:
    return any(map(str.isdigit, text))


def _changes(found: ResolvedProgram, by: int) -> dict[str, Any]:
    """What a stretch changes of a resolved configuration, as an overlay: the rest stays as the file has it."""
    before = found.program.model.model_validate(found.effective)
    return _different(*(each.model_dump(mode="json", by_alias=True) for each in (before, stretched(before, by))))


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before[key], Mapping):
            if inside := _different(before[key], value):
                found[key] = inside
        elif value != before[key]:
            found[key] = value
    return found


def _reason(error: ValidationError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "a duration would be longer than any can be"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
