"""How a program that is to run on has ended, and why."""

import json
from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.guardian import ManagedProcess
from devkit.programs.first_event import await_first_event
from devkit.programs.program_end import require_no_failure
from tests.unit.devkit.stack.fakes import FakeProcess

FAILED = json.dumps({"event": "failed", "error": "a worker failed to connect back"}) + "\n"
STARTED = json.dumps({"event": "started", "spark_ui": "http://127.0.0.1:4040"}) + "\n"


def program(directory: Path, name: str, output: str, exit_code: int | None) -> ManagedProcess:
    process = FakeProcess(name, exit_code, stdout=directory / f"{name}.out", stderr=directory / f"{name}.log")
    process.stdout.write_text(STARTED + output)
    return process.managed()


@pytest.mark.parametrize(
    ("output", "exit_code", "message"),
    [
        (FAILED, 1, "rdf-decide ended with exit code 1: a worker failed to connect back"),
        ("", 1, "rdf-decide ended with exit code 1: it said this at last"),
        ("", 0, "rdf-decide ended with exit code 0: it said this at last"),
        ("", -9, "rdf-decide ended by signal 9: it said this at last"),
        (FAILED, None, "rdf-decide failed and is about to end: a worker failed to connect back"),
    ],
    ids=["an error", "no error in its log", "without an error", "killed", "still ending"],
)
def test_its_end_is_named_with_its_cause_and_log(
    tmp_path: Path, output: str, exit_code: int | None, message: str
) -> None:
    programs = [program(tmp_path, "pipeline", "", None), program(tmp_path, "rdf-decide", output, exit_code)]
    with pytest.raises(StackError) as ended:
        require_no_failure(programs)
    assert str(ended.value) == message
    assert ended.value.hint == f"read its log, {tmp_path}/rdf-decide.out"


def test_programs_that_run_are_no_error(tmp_path: Path) -> None:
    require_no_failure([program(tmp_path, "pipeline", "", None)])


def test_a_program_is_not_awaited_longer_than_the_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[str] = []
    monkeypatch.setattr(FakeProcess, "kill_tree", lambda self: killed.append(self.name), raising=False)
    awaited, decide = program(tmp_path, "apply", "", None), program(tmp_path, "rdf-decide", FAILED, 1)
    with pytest.raises(StackError, match="rdf-decide ended with exit code 1: a worker"):
        await_first_event(awaited, lambda _event: None, what="apply to start", other_programs=[decide])
    assert killed == ["apply"]
