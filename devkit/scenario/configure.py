"""A scenario's programs with the configuration of an arm: what the arms share, what the arm has on top, and the stack's
addresses.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from devkit.observe.about import Difference
from devkit.observe.arm_role import ArmName
from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.registry import find_program
from devkit.programs.spark.program import SPARK
from devkit.scenario.differing import differing
from devkit.scenario.launch_settings import LaunchSettings
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSettings
from located_config.flow import flow

ABSENT = "not in this arm"
OF_KIT = ("arguments", "container", "environment", "kafka", "mock", "raw_config", "start", "steps", "timeline")
"""Differences that the kit itself makes, and no program logs."""


def settings_of(scenario: Scenario, arm: ArmName, name: str | None = None) -> dict[str, Any]:
    """What the file says to a program of an arm, by default to the main one: what the arms share, and the arm's on top.

    Of both, what is for all programs with the main one's configuration model lies below what is for this one.
    """
    name = main_name(scenario) if name is None else name
    shared, of_arm = (scenario.pipeline, scenario.overlay(arm)) if is_like_main(scenario, name) else ({}, {})
    if (spec := scenario.programs.get(name)) is not None:
        shared = merge(shared, spec.configuration)
        of_arm = merge(of_arm, _in_arm(scenario, arm, name).configuration)
    return merge(shared, of_arm)


def is_like_main(scenario: Scenario, name: str) -> bool:
    """Whether a program has the main one's configuration model, and so its settings where it has none of its own."""
    return name == main_name(scenario) or programs_of(scenario)[name].model is main_program(scenario).model


def environment_of(scenario: Scenario, arm: ArmName, name: str) -> dict[str, str]:
    """The variables that the file gives to a program of an arm."""
    return launch_settings(scenario, arm, name).environment


def launch_settings(scenario: Scenario, arm: ArmName, name: str) -> LaunchSettings:
    """What a program of an arm is started with: what arms share, what the arm has for its main one, and its own."""
    found = LaunchSettings().changed_by(scenario.programs.get(name, LaunchSettings()))
    if name == main_name(scenario):
        found = found.changed_by(scenario.arms[arm])
    return found.changed_by(_in_arm(scenario, arm, name))


def _in_arm(scenario: Scenario, arm: ArmName, name: str) -> ProgramSettings:
    return scenario.arms[arm].programs.get(name, ProgramSettings())


def programs_of(scenario: Scenario, instead: Program | None = None) -> dict[str, Program]:
    """The programs under test by name, the main one first; `instead` takes its place. The only one has no name."""
    programs = {name: find_program(spec.run) for name, spec in scenario.programs.items()} or {"": SPARK}
    if instead is not None:
        programs[main_name(scenario)] = instead
    return programs


def main_name(scenario: Scenario) -> str:
    """The name of the first program, empty when the file names none."""
    return next(iter(scenario.programs), "")


def main_program(scenario: Scenario) -> Program:
    """The one that the file's configuration and expectations speak of."""
    return next(iter(programs_of(scenario).values()))


def configured(
    scenario: Scenario, arm: ArmName, places: Places, name: str | None = None, program: Program | None = None
) -> ConfiguredProgram:
    """The program of that name, by default the main one, with the configuration of an arm.

    Raises pydantic's ValidationError.
    """
    found = program or programs_of(scenario)[name or main_name(scenario)]
    return found.configure(replace(places, wikis=scenario.traffic.wikis), settings_of(scenario, arm, name))


def tried_first(
    scenario: Scenario, arm: ArmName, places: Places, program: Program | None = None
) -> ConfiguredProgram | None:
    """What is tried first in an arm, the main program or the one in its place, with a checkpoint of its own; None where
    nothing is. Raises ValidationError.
    """
    overlay = scenario.tried_first_in(arm)
    if overlay is None:
        return None
    return started_with(scenario, arm, replace(places, checkpoint=f"{places.checkpoint}-tried-first"), overlay, program)


def started_with(
    scenario: Scenario, arm: ArmName, places: Places, overlay: Mapping[str, Any], program: Program | None = None
) -> ConfiguredProgram:
    """The main program, or the one in its place, with `overlay` on top of an arm's configuration.

    Raises ValidationError.
    """
    settings = merge(settings_of(scenario, arm), overlay)
    return (program or main_program(scenario)).configure(replace(places, wikis=scenario.traffic.wikis), settings)


def topics_made_afresh(scenario: Scenario, arms: Iterable[ArmName], programs: Mapping[str, Program]) -> tuple[str, ...]:
    """The topics that these arms delete and make again, whatever stack they run on."""
    every = (
        configured(scenario, arm, NOWHERE, name, program) for (name, program), arm in product(programs.items(), arms)
    )
    return tuple(sorted({name for one in every for name in one.topics.names()}))


def config_difference(scenario: Scenario, instead: Program | None = None) -> dict[str, Difference]:
    """Keys, as dotted paths, in which the arms differ: `{key: {arm: value}}`, of the main program first.

    What differs in another one and not likewise in the main one follows as `programs.NAME.…`, then what their
    supervisors and surroundings do otherwise, and then the faults of the timeline that not every arm has, as
    `timeline.NAME`.
    """
    roles = scenario.roles
    of_main, of_others = dict[str, Difference](), dict[str, Difference]()
    for name, program in programs_of(scenario, instead).items():
        found = differences({arm: configured(scenario, arm, NOWHERE, name, program).effective() for arm in roles})
        if name == main_name(scenario):
            of_main = found
        else:
            of_others |= {f"programs.{name}.{key}": one for key, one in found.items() if of_main.get(key) != one}
        before = f"programs.{name}." if name else ""
        launched = differences({arm: _launched(scenario, arm, name) for arm in roles})
        of_others |= {f"{before}{key}": one for key, one in launched.items()}
    policies = differences({arm: scenario.supervisor_of(arm).model_dump(mode="json") for arm in roles})
    of_others |= {f"supervisor.{key}": one for key, one in policies.items()}
    of_others |= differences({arm: _around(scenario, arm) for arm in roles})
    faults = {arm: {item.name: str(item) for item in scenario.timeline_of(arm)} for arm in roles}
    of_timeline: dict[str, Difference] = {
        f"timeline.{name}": {arm: faults[arm].get(name, ABSENT) for arm in roles}
        for name in dict.fromkeys(item.name for _, item, _ in scenario.timeline_at())
        if len({faults[arm].get(name) for arm in roles}) > 1
    }
    return of_main | of_others | of_timeline


def _launched(scenario: Scenario, arm: ArmName, name: str) -> dict[str, Any]:
    """Under the keys that a file has it by; Spark's settings have their own names, which all begin with `spark.`."""
    found = launch_settings(scenario, arm, name)
    raw = found.raw_config
    return {
        "environment": found.environment,
        "slots": found.slots_in_all,
        "executors": found.executors,
        "spark": {key.removeprefix("spark."): value for key, value in found.spark.items()},
        "arguments": shlex.join(found.arguments) or None,
        "raw_config": raw and (raw.file or " / ".join(raw.text.split("\n"))),
    }


def _around(scenario: Scenario, arm: ArmName) -> dict[str, Any]:
    """What the kit itself gives an arm, under the keys that a file has it by; a rule of the mock is one value."""
    own = scenario.for_arm(arm)
    rules = {rule.name: rule.model_dump(mode="json", by_alias=True, exclude_unset=True) for rule in own.mock.rules}
    return {
        "container": own.container and own.container.model_dump(mode="json"),
        "kafka": {"topics": own.kafka.topics.model_dump(mode="json", by_alias=True)},
        "mock": {name: flow({key: one for key, one in rule.items() if key != "name"}) for name, rule in rules.items()},
        "start": scenario.arms[arm].start,
        "steps": "; ".join(map(str, scenario.arms[arm].steps)) or None,
    }


def differences(settings: Mapping[ArmName, Any]) -> dict[str, Difference]:
    """What not every arm has alike, by its dotted path: down to single values where all have a mapping.

    A mapping against a single value is one difference.
    """
    return dict(sorted((".".join(map(str, place)), values) for place, values in differing(settings)))


def keys_of(settings: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """All keys as dotted paths, those of sections too."""
    for key, value in settings.items():
        here = f"{path}.{key}" if path else key
        yield here
        if isinstance(value, Mapping):
            yield from keys_of(value, here)
