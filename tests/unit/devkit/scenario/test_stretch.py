"""A stretched scenario is the same incident, slower."""

from datetime import timedelta
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG
from devkit.programs.spark.program import ConfiguredSpark
from devkit.scenario.arm_name import ARMS
from devkit.scenario.configure import config_difference, configured, tried_first
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.stretch import stretch_scenario
from devkit.traffic.generate import generate
from tests.unit.devkit.headroom.durations import durations

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_ones_can_be_stretched(path: Path) -> None:
    scenario = load_scenario(path)
    slower = stretch_scenario(scenario, 3)
    assert slower.until.deadline == 3 * scenario.until.deadline
    assert slower.restart_delay == 3 * scenario.restart_delay
    assert list(durations(slower.mock)) == [3 * one for one in durations(scenario.mock)]
    assert list(durations(slower.expect)) == [3 * one for one in durations(scenario.expect)]
    assert config_difference(slower).keys() == config_difference(scenario).keys()
    for arm in ARMS:
        for configure in (configured, tried_first):
            before, after = (configure(one, arm, NOWHERE) for one in (scenario, slower))
            if before is None:
                assert after is None
                continue
            assert isinstance(before, ConfiguredSpark)
            assert isinstance(after, ConfiguredSpark)
            shown = [CONFIG.validate_python(one.effective()) for one in (before, after)]
            assert list(durations(shown[1])) == [3 * one for one in durations(shown[0])]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_its_events_are_the_same_in_number_order_and_size(path: Path) -> None:
    scenario = load_scenario(path)
    before, after = generate(scenario.traffic), generate(stretch_scenario(scenario, 2).traffic)
    assert [len(record.value) for record in before.records] == [len(record.value) for record in after.records]
    assert [record.key for record in before.records] == [record.key for record in after.records]


def test_by_1_it_is_the_same(scenario: Scenario) -> None:
    assert stretch_scenario(scenario, 1) is scenario


def test_what_production_took_stands_for_less_of_it(scenario: Scenario) -> None:
    assert stretch_scenario(scenario, 2).time_scale == scenario.time_scale / 2


def test_it_can_be_stretched_as_often_as_it_says(scenario: Scenario) -> None:
    assert stretch_scenario(stretch_scenario(scenario, 2), 3).until == stretch_scenario(scenario, 6).until


def test_a_value_beyond_what_its_key_allows_is_said(scenario: Scenario) -> None:
    for delay in (timedelta.max / 3, timedelta.max):
        with pytest.raises(UsageError, match="cannot be stretched by 8"):
            stretch_scenario(scenario.model_copy(update={"restart_delay": delay}), 8)
