"""Each scenario of the repository has a page, with its story and the drawing of a run that showed it."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from devkit.errors import UsageError
from devkit.report.run_record import read_run
from devkit.scenario.load import load_scenario
from docs.generate.incidents import PLOTS, SCENARIOS, incident, names
from docs.generate.plots import drawing
from tests.unit.devkit.report import storm

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", names())
def test_a_page_tells_what_happens_and_how_to_play_it(name: str) -> None:
    text = incident(name)
    assert "**The incident arm**" in text
    assert "**The fixed arm**" in text
    assert f"./justw scenario {name}\n" in text
    assert f"]({name}.svg)" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stalled-progress", "| `restarts: {at_least: 2}` | Number of times that the supervisor"),
        ("retry-storm", '| `none` | `{"share": 0.1, "burst": 10}` |'),
        ("vanished-metric", "In the fixed arm, the operator first tries `{metrics: {rename:"),
    ],
    ids=["an expectation in words", "the difference of effective configurations", "an attempt of the operator"],
)
def test_a_page_says(name: str, text: str) -> None:
    assert text in incident(name)


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


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return storm.write_run(tmp_path / "run")


def test_a_run_is_drawn_the_same_each_time(directory: Path) -> None:
    text = drawing(read_run(directory))
    assert drawing(read_run(directory)) == text
    svg = ET.fromstring(text)
    assert [group.get("class") for group in svg.iter(f"{SVG}g")] == ["incident", "fixed"] * 2
    kinds = [shape.get("class") for shape in svg.iter(f"{SVG}rect")]
    assert {"fault", "down"} <= set(kinds)
    described = svg.findtext(f"{SVG}desc") or ""
    assert "Hatched: requests matched the fault" in described
    assert "Grey: no query was running" in described


def test_mutations_that_are_not_applied_are_drawn_below_where_there_are_any(directory: Path) -> None:
    run = read_run(directory)
    applied = tuple(sample.model_copy(update={"waiting": {}}) for sample in run.arms["fixed"].samples)
    arms = {**run.arms, "fixed": replace(run.arms["fixed"], samples=applied)}
    svg = ET.fromstring(drawing(replace(run, arms=arms)))
    assert [group.get("class") for group in svg.iter(f"{SVG}g")] == ["incident", "fixed", "incident"]
    headings = [span.text for span in svg.iter(f"{SVG}tspan")]
    assert headings == ["incident arm:", "fixed arm:", "incident arm, mutations not applied:"]
    assert (svg.findtext(f"{SVG}title") or "").startswith("Committed offset and lag, mutations not applied of both")
    assert "Mutations not applied, incident arm: " in (svg.findtext(f"{SVG}desc") or "")


def test_a_run_without_a_verdict_is_no_picture_of_the_incident(directory: Path) -> None:
    (directory / "result.json").unlink()
    with pytest.raises(UsageError, match="does not show both the incident and the fix"):
        drawing(read_run(directory))
