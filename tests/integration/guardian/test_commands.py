"""Commands that end real processes: those of a killed run, and those of a kept stack."""

import os
import secrets
import subprocess
from pathlib import Path

import psutil
import pytest

from devkit.guardian import Guardian
from devkit.guardian.processes import RUN_VARIABLE, is_alive, marked
from devkit.guardian.run_state import RunState, known_runs
from tests.integration.guardian.conftest import SLEEP, await_value
from tests.unit.command_run import run_command

ROOMS = ("devkit/guardian", "devkit/cli")


def test_clean_ends_what_a_killed_run_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Marks are looked for on the whole machine, where this test may be running twice.
    run_id = secrets.token_hex(4)
    left = subprocess.Popen(SLEEP, env=os.environ | {RUN_VARIABLE: run_id})
    try:
        await_value(lambda: marked(RUN_VARIABLE, run_id), "the process to show its mark")
        seen = psutil.Process(left.pid)
        (tmp_path / f"devkit-{run_id}").mkdir()
        RunState(
            run_id=run_id,
            guardian_pid=left.pid,
            guardian_started=1.0,
            directory=tmp_path / f"devkit-{run_id}",
        ).save()
        assert run_command("devkit", "clean").out == f"ended what was left of run {run_id}\n"
        assert not is_alive(seen)
        assert known_runs() == []
        assert not (tmp_path / f"devkit-{run_id}").exists()
    finally:
        left.kill()
        left.wait()


def test_down_ends_what_was_kept(tmp_path: Path) -> None:
    with Guardian() as guardian:
        guardian.spawn("x", ["sleep", "600"], logs=tmp_path)
        guardian.release({})
    finished = run_command("devkit", "down", "--run-id", guardian.run_id)
    guardian._process.wait()
    assert (finished.code, finished.out) == (0, f"stack {guardian.run_id} is down\n")
    assert marked(RUN_VARIABLE, guardian.run_id) == []
    assert known_runs() == []
