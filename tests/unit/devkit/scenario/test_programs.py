"""Several programs in a scenario's file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.spark.program import SPARK, SparkProgram
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve

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
