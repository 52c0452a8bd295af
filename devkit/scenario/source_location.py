"""Places in the file of an arm's settings and expectations: shared, by role, or by the arm's name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from devkit.expectations import Expectation
from devkit.observe.arm_role import ArmName
from devkit.scenario.model import Scenario
from located_config.place import Location, reaches
from located_config.problem import Problem


def locations_of(scenario: Scenario, key: Location) -> Iterator[Location]:
    """All places of the file with that setting."""
    sections: list[tuple[Location, Mapping[str, Any]]] = [(("pipeline",), scenario.pipeline)]
    sections += [(("arms", arm), scenario.overlay(arm)) for arm in scenario.roles]
    for section, settings in sections:
        if reaches(settings, key) == len(key):
            yield (*section, *key)


def location_of(scenario: Scenario, arm: ArmName, key: Location) -> Location:
    """The place of an arm's setting; in the shared configuration if it is written nowhere."""
    arm_place = ("arms", arm, *key)
    return arm_place if arm_place in locations_of(scenario, key) else ("pipeline", *key)


def located_expectations(scenario: Scenario, arm: ArmName) -> Iterator[tuple[Location, Expectation]]:
    """The expectations of an arm, each with its place; those of a role have the same place for each of its arms."""
    key = scenario.key_of(scenario.expect, arm)
    for number, expectation in enumerate(scenario.expected_of(arm)):
        yield ("expect", key, number, expectation.kind), expectation


def once(problems: Iterable[Problem]) -> list[Problem]:
    """The problems without repeats, which several arms have at the same place."""
    return list(dict.fromkeys(problems))
