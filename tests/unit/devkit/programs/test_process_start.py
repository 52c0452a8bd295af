"""What a process was started with: as the system shows it, else as the supervisor passed it on."""

from pathlib import Path

import pytest

from devkit.programs.process_start import ProcessStart
from tests.unit.devkit.programs.bench import Bench


def test_of_one_that_ended_before_it_was_looked_at_it_is_known_what_was_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devkit.programs.supervisor.read_process_start", lambda *_: None)
    supervisor = Bench(tmp_path, variables=("SPARK", "OTHER")).start().supervisor
    assert supervisor.process_start == ProcessStart({"SPARK": "x"}, ("python", "-m", "pipeline", "--new", "earliest"))
