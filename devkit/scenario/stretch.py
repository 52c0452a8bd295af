"""Stretches a scenario: multiplies every duration and divides every rate by a number, in all arms.

The machine then has more time for the same work, and the ratio that carries the incident stays. Default timeouts are
stretched as well. Values outside of a model are not: environment variables, a command's own settings, raw files. A
scenario with such times keeps its pace, unless a person gives a stretch.
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

_ARM_KEYS = ("container", "kafka", "mock", "start", "steps", "timeline", *LaunchSettings.model_fields)
"""What an arm has of its own besides configuration and its supervisor."""
_TIME_OF_SPARK = re.compile(r"\d+(us|ms|s|min|h|d)")


def stretch_scenario(resolved: ResolvedScenario, by: int) -> Scenario:
    """Raises UsageError where a stretched value is beyond what its key allows."""
    scenario = resolved.scenario
    if by == 1:
        return scenario

    def arm(name: ArmName) -> dict[str, Any]:
        own: dict[str, Any] = {key: getattr(slower.arms[name], key) for key in _ARM_KEYS}
        own["steps"] = tuple(stretched_step(name, step) for step in own["steps"])
        if scenario.arms[name].supervisor is not None:
            # As a whole: a key that the arm leaves to the shared policy must not become the stretched default.
            own["supervisor"] = stretched(resolved.arms[name].supervisor, by)
        return settings(name) | own

    def settings(name: ArmName) -> dict[str, Any]:
        changes = {key: _stretched_settings(program, by) for key, program in resolved.arms[name].programs.items()}
        if not scenario.programs:
            return merge(scenario.overlay(name), changes[resolved.main_name])
        # By name, as shared settings lie below.
        own = {key: program.model_dump() for key, program in scenario.arms[name].programs.items()}
        stretched_own = {key: {"configuration": configuration} for key, configuration in changes.items()}
        return {**scenario.overlay(name), "programs": merge(own, stretched_own)}

    def stretched_step(name: ArmName, step: ArmStep) -> ArmStep:
        if step.start is None or not step.start.configuration:
            return step
        overlay = step.start.configuration
        changes = _stretched_settings(resolved.arms[name].main.with_settings(overlay), by)
        start = step.start.model_copy(update={"configuration": merge(overlay, changes)})
        return step.model_copy(update={"start": start})

    def tried(name: ArmName) -> dict[str, Any] | None:
        program = resolved.arms[name].tried_first
        return None if program is None else merge(scenario.tried_first_in(name) or {}, _stretched_settings(program, by))

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
    """The settings of its programs that a stretch does not change, each with the program's name if it has one.

    Variables and arguments with a digit count, as they may be times, unless the file says `time_based: false`.
    """
    unreached = [(name, program.unstretchable) for name, program in resolved.programs.items() if program.unstretchable]
    for name in resolved.programs:
        launches = [arm.programs[name].launch for arm in resolved.arms.values()]
        variables = [item for launch in launches for item in launch.environment.items()]
        with_figures = dict.fromkeys(
            key for key, variable in variables if variable.time_based and _has_figure(variable.value)
        )
        unreached += [(name, f"the variable {key}") for key in with_figures]
        settings = [item for launch in launches for item in launch.spark.items()]
        times = dict.fromkeys(key for key, value in settings if _TIME_OF_SPARK.fullmatch(value))
        unreached += [(name, key) for key in times]
        if any(_has_figure(word) for launch in launches for word in launch.arguments):
            unreached.append((name, "its arguments"))
        if any(launch.raw_config is not None and launch.raw_config.time_based for launch in launches):
            unreached.append((name, "its raw configuration"))
    return tuple(f"{setting} (program {name})" if name else setting for name, setting in unreached)


def _has_figure(text: str) -> bool:
    return any(map(str.isdigit, text))


def _stretched_settings(program: ResolvedProgram, by: int) -> dict[str, Any]:
    """An overlay with the settings that a stretch changes in a resolved configuration."""
    before = program.program.model.model_validate(program.effective)
    return _changed_values(*(model.model_dump(mode="json", by_alias=True) for model in (before, stretched(before, by))))


def _changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before[key], Mapping):
            if inside := _changed_values(before[key], value):
                changes[key] = inside
        elif value != before[key]:
            changes[key] = value
    return changes


def _reason(error: ValidationError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "a duration would be longer than any can be"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
