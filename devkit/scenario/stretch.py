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
        own["steps"] = tuple(stretched_step(name, step) for step in own["steps"])
        if scenario.arms[name].supervisor is not None:
            # As a whole: what an arm leaves to the shared policy must not become the stretched default.
            own["supervisor"] = stretched(resolved.arms[name].supervisor, by)
        return settings(name) | own

    def settings(name: ArmName) -> dict[str, Any]:
        changes = {key: _changes(program, by) for key, program in resolved.arms[name].programs.items()}
        if not scenario.programs:
            return merge(scenario.overlay(name), changes[resolved.main_name])
        # By name, as what programs share lies below.
        own = {key: program.model_dump() for key, program in scenario.arms[name].programs.items()}
        stretched_own = {key: {"configuration": configuration} for key, configuration in changes.items()}
        return {**scenario.overlay(name), "programs": merge(own, stretched_own)}

    def stretched_step(name: ArmName, step: ArmStep) -> ArmStep:
        if step.start is None or not step.start.configuration:
            return step
        overlay = step.start.configuration
        changes = _changes(resolved.arms[name].main.with_settings(overlay), by)
        start = step.start.model_copy(update={"configuration": merge(overlay, changes)})
        return step.model_copy(update={"start": start})

    def tried(name: ArmName) -> dict[str, Any] | None:
        program = resolved.arms[name].tried_first
        return None if program is None else merge(scenario.tried_first_in(name) or {}, _changes(program, by))

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


def _changes(program: ResolvedProgram, by: int) -> dict[str, Any]:
    """What a stretch changes of a resolved configuration, as an overlay: the rest stays as the file has it."""
    before = program.program.model.model_validate(program.effective)
    return _different(*(model.model_dump(mode="json", by_alias=True) for model in (before, stretched(before, by))))


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before[key], Mapping):
            if inside := _different(before[key], value):
                changes[key] = inside
        elif value != before[key]:
            changes[key] = value
    return changes


def _reason(error: ValidationError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "a duration would be longer than any can be"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
