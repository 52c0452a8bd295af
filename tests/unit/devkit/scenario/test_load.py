"""What is wrong with a file is said with place, value and remedy; the base of each is `incident.yaml`."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.spark.program import SPARK, SparkProgram
from devkit.scenario.arms import ArmSettings
from devkit.scenario.end_condition import Condition
from devkit.scenario.load import find_scenario, load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.source_location import location_of, locations_of
from devkit.scenario.stack_settings import Mock, TopicSettings
from located_config.place import Location
from tests.unit.devkit.conftest import TEXT

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").rglob("*.y*ml"))


def load_text(directory: Path, text: str) -> Scenario:
    path = directory / "scenario.yaml"
    path.write_text(text)
    return load_scenario(path)


def test_a_valid_file_is_what_it_says(scenario: Scenario) -> None:
    assert scenario.name == "an-incident"
    assert scenario.traffic.event_count == 161
    assert scenario.until.deadline.total_seconds() == 90
    assert scenario.supervisor.delay.total_seconds() == 2
    assert scenario.traffic_begins == "at once"
    assert [rule.name for rule in scenario.mock.rules] == ["huge page"]
    assert scenario.kafka.topics.output.kafka_settings() == {"max.message.bytes": str(32 * 1024 * 1024)}
    assert scenario.kafka.topics.error.kafka_settings() == {}
    assert scenario.overlay("fixed") == {"record_limit": {"policy": "serialized"}}
    assert len(scenario.expected_of("incident")) == len(scenario.expected_of("fixed")) == 2


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_scenario_is_valid_and_found_by_its_name(path: Path) -> None:
    scenario = load_scenario(path)
    assert find_scenario(scenario.name, path.parent) == path


def test_there_are_shipped_scenarios() -> None:
    assert SHIPPED


class TestFinding:
    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        for name in ("oversized-thing", "slow-page"):
            (tmp_path / f"{name}.yaml").write_text(TEXT)
        return tmp_path

    def test_by_name(self, directory: Path) -> None:
        assert find_scenario("slow-page", directory) == directory / "slow-page.yaml"

    @pytest.mark.parametrize(
        ("name", "place", "hint"),
        [
            ("slow-pgae", "", "did you mean 'slow-page'?"),
            ("SLOW", "", "there are: oversized-thing, slow-page"),
            ("", "", "there are: oversized-thing, slow-page"),
            ("slow-page", "nowhere", "there are: none"),
        ],
    )
    def test_an_unknown_name_brings_the_near_miss(self, directory: Path, name: str, place: str, hint: str) -> None:
        with pytest.raises(UsageError) as caught:
            find_scenario(name, directory / place)
        assert str(caught.value) == f"there is no scenario {name!r} in {directory / place}"
        assert caught.value.hint == hint

    @pytest.mark.parametrize("suffix", ["yaml", "yml"])
    def test_by_file(self, tmp_path: Path, suffix: str) -> None:
        file = tmp_path / f"mine.{suffix}"
        file.write_text(TEXT)
        assert find_scenario(str(file), tmp_path / "nowhere") == file

    @pytest.mark.parametrize("name", ["mine.yaml", "./mine", "deep/mine.yml"])
    def test_a_file_that_is_not_there(self, directory: Path, name: str) -> None:
        with pytest.raises(UsageError, match=f"there is no scenario file {name}"):
            find_scenario(name, directory)

    def test_a_directory_is_no_scenario(self, directory: Path) -> None:
        with pytest.raises(UsageError, match="is a directory, not a scenario file"):
            find_scenario(f"{directory}/", directory)


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


Edited = Callable[..., str]
MINE = CommandProgram(CommandLine(("mine",), Path("/nowhere")))


@pytest.fixture
def with_programs(tmp_path: Path, edited: Edited) -> Callable[..., Scenario]:
    def load(programs: str, more: str = "") -> Scenario:
        path = tmp_path / "several.yaml"
        path.write_text(edited(("until:", f"programs: {programs}\n{more}until:")))
        return load_scenario(path)

    return load


def test_without_any_it_is_the_pipeline(scenario: Scenario) -> None:
    assert resolve(scenario).programs == {"": SPARK}
    assert resolve(scenario, MINE).programs == {"": MINE}


def test_the_first_is_the_main_one(with_programs: Callable[..., Scenario]) -> None:
    scenario = with_programs("{html: {run: pipeline html-enrichment}, reader: {run: consumer, needs: [html]}}")
    assert resolve(scenario).programs == {"html": SparkProgram("html-enrichment"), "reader": ConsumerProgram()}
    assert resolve(scenario).main == SparkProgram("html-enrichment")
    assert scenario.programs["reader"].restart == "always"


def test_a_persons_own_takes_the_place_of_the_main_one(with_programs: Callable[..., Scenario]) -> None:
    scenario = with_programs("{html: {run: pipeline}, reader: {run: consumer}}")
    assert resolve(scenario, MINE).programs == {"html": MINE, "reader": ConsumerProgram()}


@pytest.mark.parametrize("condition", [{"drained": True}, {"restarts": 1}, {"replays": 3}])
def test_a_condition(condition: dict[str, Any]) -> None:
    assert Condition.model_validate(condition).model_dump(exclude_unset=True) == condition


@pytest.mark.parametrize(
    "condition",
    [{}, {"drained": False}, {"restarts": 0}, {"replays": -1}, {"drained": None}],
)
def test_what_never_comes_true_or_says_nothing_is_no_condition(condition: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Condition.model_validate(condition)


def test_sizes_are_bytes_for_kafka() -> None:
    settings = TopicSettings.model_validate({"max.message.bytes": "1.5MiB"})
    assert settings.kafka_settings() == {"max.message.bytes": "1572864"}


def test_the_faults_are_over_when_the_last_that_ends_has_ended() -> None:
    def mock(*windows: dict[str, str] | None) -> Mock:
        rules = [
            {"name": f"rule {n}", "when": {"window": window} if window else {}, "do": {"latency": "1s"}}
            for n, window in enumerate(windows)
        ]
        return Mock.model_validate({"rules": rules})

    assert mock().fault_over is None
    assert mock(None, {"from": "2s"}).fault_over is None
    ended = mock({"from": "3s", "for": "4s"}, {"for": "6s"}, {"from": "60s"}, None)
    assert ended.fault_over == timedelta(seconds=7)


def test_a_scenario_cannot_be_changed(scenario: Scenario) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        scenario.name = "other"  # type: ignore[misc]
