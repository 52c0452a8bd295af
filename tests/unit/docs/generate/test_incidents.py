"""Each scenario of the repository has a page, with its story and the drawing of a run that showed it."""

from xml.etree import ElementTree as ET

import pytest

from devkit.scenario.load import load_scenario
from docs.generate.incidents import PLOTS, SCENARIOS, incident, names

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", names())
def test_a_page_tells_what_happens_and_how_to_play_it(name: str) -> None:
    text = incident(name)
    assert "**The incident arm**" in text
    assert "**The fixed arm**" in text
    assert f"./justw scenario {name}\n" in text
    assert f"]({name}.svg)" in text


def test_an_expectation_stands_as_the_file_has_it_and_in_words() -> None:
    assert "| `restarts: {at_least: 2}` | Number of times that the supervisor" in incident("stalled-progress")


def test_the_difference_is_that_of_the_effective_configurations() -> None:
    assert '| `none` | `{"share": 0.1, "burst": 10}` |' in incident("retry-storm")


def test_what_is_tried_first_is_told() -> None:
    assert "In the fixed arm, the operator first tries `{metrics: {rename:" in incident("vanished-metric")


def test_each_drawing_belongs_to_a_page_and_has_all_arms() -> None:
    files = sorted(PLOTS.glob("*.svg"))
    assert [file.stem for file in files] == names()
    for file in files:
        svg = ET.parse(file).getroot()
        roles = load_scenario(SCENARIOS / f"{file.stem}.yaml").roles
        groups = [group.get("class") for group in svg.iter(f"{SVG}g")]
        assert groups[: len(roles)] == list(roles.values())
        assert svg.findtext(f"{SVG}title")
        assert file.stat().st_size < 30_000
