"""A scenario's programs with the configuration of an arm: what the arms share, what the arm has on top, and the stack's
addresses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.registry import find_program
from devkit.programs.spark.program import SPARK
from devkit.scenario.arm_name import ARMS, ArmName
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSettings

ABSENT = "not in this arm"


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
    spec = scenario.programs.get(name)
    return {} if spec is None else {**spec.environment, **_in_arm(scenario, arm, name).environment}


def _in_arm(scenario: Scenario, arm: ArmName, name: str) -> ProgramSettings:
    return scenario.arms.of(arm).programs.get(name, ProgramSettings())


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
    overlay = scenario.tried_first.of(arm)
    if overlay is None:
        return None
    apart = replace(places, checkpoint=f"{places.checkpoint}-tried-first", wikis=scenario.traffic.wikis)
    return (program or main_program(scenario)).configure(apart, merge(settings_of(scenario, arm), overlay))


def topics_made_afresh(scenario: Scenario, arms: Iterable[ArmName], programs: Mapping[str, Program]) -> tuple[str, ...]:
    """The topics that these arms delete and make again, whatever stack they run on."""
    every = (
        configured(scenario, arm, NOWHERE, name, program) for (name, program), arm in product(programs.items(), arms)
    )
    return tuple(sorted({name for one in every for name in one.topics.names()}))


def config_difference(scenario: Scenario, instead: Program | None = None) -> dict[str, dict[str, Any]]:
    """Keys, as dotted paths, in which the arms differ: `{key: {incident: …, fixed: …}}`, of the main program first.

    What differs in another one and not likewise in the main one follows as `programs.NAME.…`, and then the faults of
    the timeline that only one of the arms has, as `timeline.NAME`.
    """
    of_main, of_others = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    for name, program in programs_of(scenario, instead).items():
        incident, fixed = (configured(scenario, arm, NOWHERE, name, program).effective() for arm in ARMS)
        found = dict(sorted(_differences(incident, fixed)))
        if name == main_name(scenario):
            of_main = found
        else:
            of_others |= {f"programs.{name}.{key}": one for key, one in found.items() if of_main.get(key) != one}
        variables = [environment_of(scenario, arm, name) for arm in ARMS]
        of_others |= {
            f"programs.{name}.environment.{key}": dict(zip(ARMS, (one.get(key) for one in variables), strict=True))
            for key in sorted(variables[0].keys() | variables[1].keys())
            if variables[0].get(key) != variables[1].get(key)
        }
    of_timeline: dict[str, dict[str, Any]] = {
        f"timeline.{item.name}": {arm: str(item) if arm in item.arms else ABSENT for arm in ARMS}
        for item in scenario.timeline
        if {*item.arms} != {*ARMS}
    }
    return of_main | of_others | of_timeline


def _differences(incident: Any, fixed: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Down to single values where both arms have a mapping; a mapping against a single value is one difference."""
    if isinstance(incident, dict) and isinstance(fixed, dict):
        for key in incident.keys() | fixed.keys():
            yield from _differences(incident.get(key), fixed.get(key), f"{path}.{key}" if path else key)
    elif incident != fixed:
        yield path, {"incident": incident, "fixed": fixed}
