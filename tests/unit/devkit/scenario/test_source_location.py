"""Where a file says a setting: in an arm, in what the arms share, in both, or nowhere."""

import pytest

from devkit.scenario.arms import ArmSettings
from devkit.scenario.model import Scenario
from devkit.scenario.source_location import location_of, locations_of
from located_config.place import Location

KEY = ("batch", "max_offsets")
SHARED, INCIDENT = ("pipeline", *KEY), ("arms", "incident", *KEY)


@pytest.mark.parametrize(
    ("shared", "of_incident", "places", "incident", "fixed"),
    [
        (True, False, [SHARED], SHARED, SHARED),
        (False, True, [INCIDENT], INCIDENT, SHARED),
        (True, True, [SHARED, INCIDENT], INCIDENT, SHARED),
        (False, False, [], SHARED, SHARED),
    ],
)
def test_where_a_setting_is_written(
    scenario: Scenario, shared: bool, of_incident: bool, places: list[Location], incident: Location, fixed: Location
) -> None:
    given = {"batch": {"max_offsets": 5}}
    of_arm = ArmSettings.model_validate(given if of_incident else {})
    arms = scenario.arms | {"incident": of_arm.model_copy(update={"role": "incident"})}
    scenario = scenario.model_copy(update={"pipeline": given if shared else {}, "arms": arms})
    assert list(locations_of(scenario, KEY)) == places
    assert location_of(scenario, "incident", KEY) == incident
    assert location_of(scenario, "fixed", KEY) == fixed
