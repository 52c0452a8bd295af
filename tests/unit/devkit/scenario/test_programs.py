"""Several programs in a scenario's file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
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


@pytest.mark.parametrize(
    ("programs", "message"),
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
def test_what_cannot_be(with_programs: Callable[..., Scenario], programs: str, message: str) -> None:
    with pytest.raises(InvalidFileError) as refused:
        with_programs(programs)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("own", "more", "message"),
    [
        (
            "configuration: {batch: {max_ofsets: 7}}",
            "",
            "configuration.batch.max_ofsets: unknown key; did you mean 'max_",
        ),
        ("configuration: {checkpoint: x}", "", "programs.reader.configuration.checkpoint: is given by the stack"),
        ("environment: {DEVKIT_ARM: x}", "", "environment.DEVKIT_ARM: DEVKIT_ARM is given by the stack; leave it out"),
        ("environment: {A-B: x}", "", "programs.reader.environment.A-B"),
        (
            "environment: {LEVEL: 7}",
            "",
            "programs.reader.environment.LEVEL.value: must be text (got 7); write",
        ),
        ("", "readr: {}", "arms.fixed.programs.readr: there is no program 'readr'; did you mean 'reader'?"),
        ("", "reader: {run: x}", "arms.fixed.programs.reader.run: unknown key; it belongs under `programs.NAME`"),
        (
            "",
            "reader: {configuration: {batch: {max_offsets: -1}}}",
            "arms.fixed.programs.reader.configuration.batch.max_offsets: must be greater than 0 (got -1)",
        ),
    ],
)
def test_what_is_its_own_is_checked_by_its_kind(
    tmp_path: Path, edited: Edited, own: str, more: str, message: str
) -> None:
    path = tmp_path / "several.yaml"
    programs = f"programs: {{html: {{run: pipeline}}, reader: {{run: consumer, {own}}}}}"
    of_arm = ("  fixed:\n", f"  fixed:\n    programs: {{{more}}}\n") if more else ("until:", "until:")
    path.write_text(edited(("until:", f"{programs}\nuntil:"), of_arm))
    with pytest.raises(InvalidFileError) as refused:
        load_scenario(path)
    assert message in str(refused.value)
    assert str(refused.value).count("\n") == 0, "it is told once"


def test_a_condition_knows_them_by_name(with_programs: Callable[..., Scenario]) -> None:
    item = "timeline: [{name: x, do: {pause: {part: kafka}}, when: program htm running, for: 1s}]\n"
    with pytest.raises(InvalidFileError, match="did you mean 'html'"):
        with_programs("{html: {run: pipeline}}", item)
