"""What is wrong with a file is said with place, value and remedy; the base of each is `incident.yaml`."""

from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.scenario.load import find_scenario, load_scenario
from devkit.scenario.model import Scenario
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
