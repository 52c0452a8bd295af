"""What a process was started with: as the system shows it, else as the supervisor passed it on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devkit.programs.process_start import ProcessStart, read_process_start
from tests.unit.devkit.programs.bench import Bench

WAITS = (sys.executable, "-c", "print(flush=True); input()", "--at", "5 s")


def test_a_process_shows_its_command_line_and_the_variables_that_are_asked_for() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(WAITS, env={**os.environ, "MODE": "x"}, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "it runs"
        start = read_process_start(process.pid, ("MODE", "ABSENT"))
        process.kill()
    assert start == ProcessStart({"MODE": "x"}, WAITS)


def test_one_that_its_prefix_still_begins_shows_nothing_yet() -> None:
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "it runs"
        starts = [read_process_start(process.pid, (), prefix) for prefix in (WAITS[:2], ("another",))]
        process.kill()
    assert [start is None for start in starts] == [True, False]


def test_one_that_has_ended_shows_nothing() -> None:
    with subprocess.Popen(("true",)) as process:
        process.wait()
        assert read_process_start(process.pid, ()) is None


def test_of_one_that_ended_before_it_was_looked_at_it_is_known_what_was_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devkit.programs.supervisor.read_process_start", lambda *_: None)
    supervisor = Bench(tmp_path, variables=("SPARK", "OTHER")).start().supervisor
    assert supervisor.process_start == ProcessStart({"SPARK": "x"}, ("python", "-m", "pipeline", "--new", "earliest"))
