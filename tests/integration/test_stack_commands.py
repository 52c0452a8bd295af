"""`devkit up`, `status`, `logs`, `down`, and what `clean` does for a run whose guardian was killed.

Set-up: a kept stack without the pipeline, and one that a scenario kept. Checked: addresses answer, logs show every
part, all is gone after `clean` and after `down`.
"""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests

from devkit.guardian import Guardian
from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.guardian.run_state import known_runs
from devkit.stack.stack import Stack
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun, alive, devkit
from tests.integration.poisoned_scenario import write_scenario

ROOMS = ("devkit/cli", "devkit/guardian")
Cli = Callable[..., CliRun]
GONE = timedelta(seconds=30)


@pytest.fixture
def kept(devkit_cli: Cli) -> Iterator[str]:
    run = devkit_cli("up", "--no-pipeline")
    assert run.wait(90) == 0, run.output()
    match = re.search(r"stack (\w+) stays up", run.output())
    assert match
    yield match[1]
    devkit("down", "--run-id", match[1])  # a test that failed half-way must not leave it


def test_a_kept_stack_is_seen_followed_and_cleaned_up_once_its_guardian_was_killed(kept: str, tmp_path: Path) -> None:
    status = devkit("status")
    # It tells of every stack of the machine, and another one may be silent meanwhile.
    assert status.returncode == (3 if "DOES NOT ANSWER" in status.stdout else 0)
    lines = status.stdout[status.stdout.index(f"stack {kept}") :]
    for part in ("kafka", "object store", "mock API"):
        assert re.search(rf"{part} +\S+ +answers", lines), lines
    endpoint = re.search(r"mock API +(\S+)", lines)
    assert endpoint
    assert requests.get(f"{endpoint[1]}/__mock/journal/counts", timeout=10).status_code == 200
    logs = devkit("logs", "--run-id", kept)
    assert {line.split()[0] for line in logs.stdout.splitlines()} >= {"kafka", "object-store", "mock-api"}
    assert len(marked(RUN_VARIABLE, kept)) >= 4

    (state,) = [run for run in known_runs() if run.run_id == kept]
    os.kill(state.guardian_pid, signal.SIGKILL)
    wait_until(lambda: not state.guardian_is_alive(), what="the guardian to be gone", deadline=GONE)
    cleaned = devkit("clean", "--out", str(tmp_path / "none"))
    assert f"ended what was left of run {kept}" in cleaned.stdout
    assert marked(RUN_VARIABLE, kept) == []
    assert not state.directory.exists()
    assert kept not in {run.run_id for run in known_runs()}


def test_a_port_that_is_taken_is_named(devkit_cli: Cli, stack: tuple[Guardian, Stack]) -> None:
    _, _, port = stack[1].kafka.bootstrap.rpartition(":")
    run = devkit_cli("up", "--no-pipeline", "--kafka-port", port)
    assert run.wait(60) == 3
    assert f"port {port} for Kafka cannot be used" in run.output()


def test_a_scenario_can_print_json_keep_its_stack_and_be_played_on_it_until_it_is_down(tmp_path: Path) -> None:
    command = ["scenario", "run", write_scenario("poisoned", tmp_path), "--arm", "fixed", "--out", str(tmp_path)]
    run = devkit(*command, "--json", "--keep")
    match = re.search(r"stack (\w+) stays up", run.stderr)
    assert match, run.stderr
    try:
        assert run.returncode == 0, run.stderr
        result = json.loads(run.stdout)
        assert result["outcome"] == "fixed arm holds"
        assert list(result["arms"]) == ["fixed"]
        assert result == json.loads((tmp_path / "latest" / "result.json").read_text())
        assert f"stack {match[1]}" in devkit("status").stdout  # its exit code is of all stacks that are up
        assert "mock-api" in devkit("logs", "--run-id", match[1]).stdout

        again = devkit(*command, "--on", match[1])

        assert again.returncode == 0, again.stdout + again.stderr
        assert f"stack {match[1]}" in devkit("status").stdout, "it stays up"
    finally:
        processes = marked(RUN_VARIABLE, match[1])
        down = devkit("down", "--run-id", match[1])
    assert (down.returncode, down.stdout) == (0, f"stack {match[1]} is down\n")
    assert alive(processes) == marked(RUN_VARIABLE, match[1]) == []
    assert devkit("down", "--run-id", match[1]).returncode == 2
