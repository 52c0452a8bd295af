"""Where a file says what it says of an arm: in what the arms share, by its role, or by its name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from devkit.expectations import Expectation
from devkit.observe.arm_role import ArmName
from devkit.scenario.model import Scenario
from located_config.place import Location, reaches
from located_config.problem import Problem


def locations_of(scenario: Scenario, key: Location) -> Iterator[Location]:
    """Wherever the file gives that setting."""
    sections: list[tuple[Location, Mapping[str, Any]]] = [(("pipeline",), scenario.pipeline)]
    sections += [(("arms", arm), scenario.overlay(arm)) for arm in scenario.roles]
    for section, settings in sections:
        if reaches(settings, key) == len(key):
            yield (*section, *key)


def location_of(scenario: Scenario, arm: ArmName, key: Location) -> Location:
    """Where the setting of an arm comes from; in what the arms share if it is written nowhere."""
    of_arm = ("arms", arm, *key)
    return of_arm if of_arm in locations_of(scenario, key) else ("pipeline", *key)


def located_expectations(scenario: Scenario, arm: ArmName) -> Iterator[tuple[Location, Expectation]]:
    """The expectations of an arm, each with its place; those of a role are at one place for each arm that has it."""
    key = scenario.key_of(scenario.expect, arm)
    for number, expectation in enumerate(scenario.expected_of(arm)):
        yield ("expect", key, number, expectation.kind), expectation


def once(problems: Iterable[Problem]) -> list[Problem]:
    """Without those that say of one arm what was said of another at the same place."""
    return list(dict.fromkeys(problems))
