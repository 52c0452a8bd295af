"""A scenario's programs with the configuration of an arm: what the arms share, what the arm has on top, and the stack's
addresses.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.registry import find_program
from devkit.programs.spark.program import SPARK
from devkit.scenario.arm_name import ARMS, ArmName
from devkit.scenario.model import Scenario

ABSENT = "not in this arm"


def settings_of(scenario: Scenario, arm: ArmName) -> dict[str, Any]:
    """What the file says to the program of an arm."""
    return merge(scenario.pipeline, scenario.overlay(arm))


def programs_of(scenario: Scenario, instead: Program | None = None) -> dict[str, Program]:
    """The programs under test by name, the main one first; `instead` takes its place. The only one has no name."""
    programs = {name: find_program(spec.run) for name, spec in scenario.programs.items()} or {"": SPARK}
    if instead is not None:
        programs[next(iter(programs))] = instead
    return programs


def main_program(scenario: Scenario) -> Program:
    """The one that the file's configuration and expectations speak of."""
    return next(iter(programs_of(scenario).values()))


def configured(scenario: Scenario, arm: ArmName, places: Places, program: Program | None = None) -> ConfiguredProgram:
    """The program, by default the main one, with the configuration of an arm. Raises pydantic's ValidationError."""
    return (program or main_program(scenario)).configure(
        replace(places, wikis=scenario.traffic.wikis), settings_of(scenario, arm)
    )


def tried_first(
    scenario: Scenario, arm: ArmName, places: Places, program: Program | None = None
) -> ConfiguredProgram | None:
    """What is tried first in an arm, with a checkpoint of its own; None where nothing is. Raises ValidationError."""
    overlay = scenario.tried_first.of(arm)
    if overlay is None:
        return None
    apart = replace(places, checkpoint=f"{places.checkpoint}-tried-first", wikis=scenario.traffic.wikis)
    return (program or main_program(scenario)).configure(apart, merge(settings_of(scenario, arm), overlay))


def topics_made_afresh(scenario: Scenario, arms: Iterable[ArmName], programs: Iterable[Program]) -> tuple[str, ...]:
    """The topics that these arms delete and make again, whatever stack they run on."""
    every = (configured(scenario, arm, NOWHERE, program) for program, arm in itertools.product(programs, arms))
    return tuple(sorted({name for one in every for name in one.topics.names()}))


def config_difference(scenario: Scenario, program: Program | None = None) -> dict[str, dict[str, Any]]:
    """Keys, as dotted paths, in which the arms differ: `{key: {incident: …, fixed: …}}`; by default the main one's.

    After them the faults of the timeline that only one of the arms has, as `timeline.NAME`.
    """
    of_program = program or main_program(scenario)
    incident, fixed = (configured(scenario, arm, NOWHERE, of_program).effective() for arm in ARMS)
    of_timeline: dict[str, dict[str, Any]] = {
        f"timeline.{item.name}": {arm: str(item) if arm in item.arms else ABSENT for arm in ARMS}
        for item in scenario.timeline
        if {*item.arms} != {*ARMS}
    }
    return dict(sorted(_differences(incident, fixed))) | of_timeline


def _differences(incident: Any, fixed: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Down to single values where both arms have a mapping; a mapping against a single value is one difference."""
    if isinstance(incident, dict) and isinstance(fixed, dict):
        for key in incident.keys() | fixed.keys():
            yield from _differences(incident.get(key), fixed.get(key), f"{path}.{key}" if path else key)
    elif incident != fixed:
        yield path, {"incident": incident, "fixed": fixed}
