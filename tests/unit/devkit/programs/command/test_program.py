"""A command as a program under test: its command line, and what it is told."""

import json
import sys
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.programs.command.command_environment import START, command_environment
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandKind, CommandProgram
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import configuration
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


def environment(**of_user: str) -> dict[str, str]:
    config = configuration(NOWHERE, {})
    return command_environment(config, Path("pipeline.yaml"), "fixed", {"AWS_REGION": "here"}, of_user)


def test_addresses_topics_and_arm() -> None:
    variables = environment()
    assert variables["DEVKIT_KAFKA_BOOTSTRAP"] == "127.0.0.1:1"
    assert variables["DEVKIT_MOCK_ENDPOINT"] == variables["DEVKIT_S3_ENDPOINT"] == "http://127.0.0.1:1"
    assert variables["DEVKIT_SOURCE_TOPIC"] == variables["DEVKIT_SOURCE_TOPICS"] == "mediawiki.page_change.v1"
    assert variables["DEVKIT_CHECKPOINT"] == "s3a://nowhere/here"
    assert (variables["DEVKIT_ARM"], variables["AWS_REGION"]) == ("fixed", "here")
    assert Path(variables["DEVKIT_PIPELINE_CONFIG"]).is_absolute()


def test_every_variable_is_documented() -> None:
    text = (Path(__file__).parents[5] / "docs" / "own-pipeline.md").read_text()
    ours = {name for name in environment() if name.startswith("DEVKIT_")} | {START}
    assert {name for name in ours if f"`{name}`" not in text} == set()


def test_the_users_settings_reach_it_but_for_proxies_and_other_stores() -> None:
    variables = environment(JAVA_HOME="/java", https_proxy="http://x", AWS_PROFILE="work", DEVKIT_ARM="theirs", A="b")
    assert (variables["JAVA_HOME"], variables["A"], variables["DEVKIT_ARM"]) == ("/java", "b", "fixed")
    assert variables.keys().isdisjoint({"https_proxy", "AWS_PROFILE"})
    # The run's processes have it set; a pipeline of modules beside each other needs it off.
    assert variables["PYTHONSAFEPATH"] == ""


class TestCommand:
    def test_it_is_taken_apart_as_in_a_shell_and_runs_in_the_users_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        own = CommandLine.parse("sh -c 'echo a b'", "--pipeline")
        assert own.argv == ("sh", "-c", "echo a b")
        assert own.started[:2] == ("sh", "-c")
        assert own.started[3:] == (str(tmp_path), *own.argv)

    def test_a_program_in_the_users_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "mine").write_text("#!/bin/sh\n")
        (tmp_path / "mine").chmod(0o755)
        assert CommandLine.parse("./mine", "--pipeline").argv == ("./mine",)

    def test_that_of_a_scenario_file_is_at_home_beside_it_and_has_the_kits_python(self, tmp_path: Path) -> None:
        (tmp_path / "mine.py").touch()
        own = CommandLine.parse("python mine.py", "run: command", tmp_path)
        assert own.argv == ("python", "mine.py")
        assert own.started[3:] == (str(tmp_path), sys.executable, "mine.py")
        with pytest.raises(UsageError, match=r"there is no file 'no_such.py' in ") as refused:
            CommandLine.parse("python no_such.py", "run: command", tmp_path)
        assert refused.value.hint == "its path is relative to the scenario's file"

    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("", "is empty"),
            ("  ", "is empty"),
            ("echo 'x", "No closing quotation"),
            ("no-such-program-at-all x", "'no-such-program-at-all' is no program"),
            ("python no/such.py", "there is no file 'no/such.py' in /"),
            ("python3 -u -X dev no_such.py --once", "there is no file 'no_such.py' in /"),
            ("sh -e -o nounset no_such.sh", "there is no file 'no_such.sh' in /"),
        ],
    )
    def test_what_cannot_be_run(self, command: str, message: str) -> None:
        with pytest.raises(UsageError, match=f"^--pipeline.*{message}") as refused:
            CommandLine.parse(command, "--pipeline")
        assert refused.value.hint is not None

    @pytest.mark.parametrize(
        "command",
        ["python -c 'print(1)' x.py", "python -m no_such", "sh -ec 'true' x", "python", "python -", "echo no_such.py"],
    )
    def test_a_file_is_looked_for_only_where_one_is_run(self, command: str) -> None:
        assert CommandLine.parse(command, "--pipeline").argv
