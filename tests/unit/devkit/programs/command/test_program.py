"""A command as a program under test."""

import json
from pathlib import Path

from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandKind, CommandProgram
from devkit.programs.places import NOWHERE
from tests.unit.devkit.programs.context import program_context

MINE = CommandProgram(CommandLine(("mine", "x y"), Path("/nowhere")))


def test_it_is_started_with_the_resolved_configuration(tmp_path: Path) -> None:
    launch = MINE.configure(NOWHERE, {"batch": {"max_offsets": 7}}).launch(program_context(tmp_path))
    assert launch.argv[-2:] == ("mine", "x y")
    config = json.loads(Path(launch.environment["DEVKIT_PIPELINE_CONFIG"]).read_text())
    assert (config["job"], config["batch"]["max_offsets"]) == ("html-enrichment", 7)
    assert launch.environment["AWS_REGION"] == "here"
    assert launch.environment["DEVKIT_ARM"] == "fixed"
    assert not (tmp_path / "spark-conf").exists()


def test_it_is_told_whether_there_is_a_checkpoint(tmp_path: Path) -> None:
    launch = MINE.configure(NOWHERE, {}).launch(program_context(tmp_path))
    assert launch.first.environment == {"DEVKIT_START": "new"}
    assert launch.again.environment == {"DEVKIT_START": "checkpoint"}


def test_it_is_known_by_its_command_line() -> None:
    assert MINE.command == "mine 'x y'"


def test_it_does_not_say_that_it_refuses(tmp_path: Path) -> None:
    assert MINE.configure(NOWHERE, {}).try_start(program_context(tmp_path)) is None


def test_the_rest_of_run_is_the_command_line() -> None:
    program = CommandKind().program("sh -c 'echo a b'")
    assert isinstance(program, CommandProgram)
    assert program.line.argv == ("sh", "-c", "echo a b")
