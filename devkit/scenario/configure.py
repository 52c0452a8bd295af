"""A scenario's programs with the configuration of an arm: what the arms share, what the arm has on top, and the stack's
addresses.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.spark.program import SPARK
from devkit.scenario.model import ARMS, ArmName, Scenario


def settings_of(scenario: Scenario, arm: ArmName) -> dict[str, Any]:
    """What the file says to the program of an arm."""
    return merge(scenario.pipeline, scenario.overlay(arm))


def configured(scenario: Scenario, arm: ArmName, places: Places, program: Program = SPARK) -> ConfiguredProgram:
    """The program with the configuration of an arm. Raises pydantic's ValidationError."""
    return program.configure(replace(places, wikis=scenario.traffic.wikis), settings_of(scenario, arm))


def tried_first(scenario: Scenario, arm: ArmName, places: Places, program: Program = SPARK) -> ConfiguredProgram | None:
    """What is tried first in an arm, with a checkpoint of its own; None where nothing is. Raises ValidationError."""
    overlay = scenario.tried_first.of(arm)
    if overlay is None:
        return None
    apart = replace(places, checkpoint=f"{places.checkpoint}-tried-first", wikis=scenario.traffic.wikis)
    return program.configure(apart, merge(settings_of(scenario, arm), overlay))


def topics_made_afresh(scenario: Scenario, arms: Iterable[ArmName], program: Program = SPARK) -> tuple[str, ...]:
    """The topics that these arms delete and make again, whatever stack they run on."""
    return tuple(sorted({name for arm in arms for name in configured(scenario, arm, NOWHERE, program).topics.names()}))


def config_difference(scenario: Scenario, program: Program = SPARK) -> dict[str, dict[str, Any]]:
    """Keys, as dotted paths, in which the arms differ: `{key: {incident: …, fixed: …}}`."""
    incident, fixed = (configured(scenario, arm, NOWHERE, program).effective() for arm in ARMS)
    return dict(sorted(_differences(incident, fixed)))


def _differences(incident: Any, fixed: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Down to single values where both arms have a mapping; a mapping against a single value is one difference."""
    if isinstance(incident, dict) and isinstance(fixed, dict):
        for key in incident.keys() | fixed.keys():
            yield from _differences(incident.get(key), fixed.get(key), f"{path}.{key}" if path else key)
    elif incident != fixed:
        yield path, {"incident": incident, "fixed": fixed}
