"""Several programs in a scenario's file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.spark.program import SPARK, SparkProgram
from devkit.scenario.configure import main_program, programs_of
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario

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
    assert programs_of(scenario) == {"": SPARK}
    assert programs_of(scenario, MINE) == {"": MINE}


def test_the_first_is_the_main_one(with_programs: Callable[..., Scenario]) -> None:
    scenario = with_programs("{html: {run: pipeline html-enrichment}, reader: {run: consumer, needs: [html]}}")
    assert programs_of(scenario) == {"html": SparkProgram("html-enrichment"), "reader": ConsumerProgram()}
    assert main_program(scenario) == SparkProgram("html-enrichment")
    assert scenario.programs["reader"].restart == "always"


def test_a_persons_own_takes_the_place_of_the_main_one(with_programs: Callable[..., Scenario]) -> None:
    scenario = with_programs("{html: {run: pipeline}, reader: {run: consumer}}")
    assert programs_of(scenario, MINE) == {"html": MINE, "reader": ConsumerProgram()}


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ("{a: {run: pipelin}}", "programs.a.run: there is no kind of program 'pipelin'; did you mean 'pipeline'?"),
        ("{a: {run: pipeline html}}", "programs.a.run: there is no job 'html'; there are: html-enrichment"),
        ("{a: {run: command no-such-program-at-all}}", "programs.a.run: run: command: 'no-such-program-at-all'"),
        ("{a: {run: pipeline, needs: [b]}, bb: {run: consumer}}", "programs.a.needs[0]: there is no program 'b'; did"),
        ("{a: {run: pipeline, needs: [b]}, b: {run: consumer, needs: [a]}}", "programs.a.needs: is never started"),
        ("{a: {run: pipeline, restart: sometimes}}", "programs.a.restart: "),
        ("{A: {run: pipeline}}", "programs.A"),
    ],
)
def test_what_cannot_be(with_programs: Callable[..., Scenario], programs: str, said: str) -> None:
    with pytest.raises(InvalidFileError) as refused:
        with_programs(programs)
    assert said in str(refused.value)


def test_a_condition_knows_them_by_name(with_programs: Callable[..., Scenario]) -> None:
    item = "timeline: [{name: x, do: {pause: {part: kafka}}, when: program htm running, for: 1s}]\n"
    with pytest.raises(InvalidFileError, match="did you mean 'html'"):
        with_programs("{html: {run: pipeline}}", item)
