import sys
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.programs.command.command_line import CommandLine


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
