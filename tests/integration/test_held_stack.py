"""A stack that `devkit up` left, with the pipeline: traffic is put on it, and a fault that holds a part is named.

Set-up: a kept stack with the pipeline. Checked: events leave as outputs; status, ps and lag beside a paused broker.
"""

import itertools
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from devkit.guardian.run_state import RunState, known_runs
from devkit.waiting import wait_until
from tests.integration.cli_run import REPOSITORY, devkit

ROOMS = ("devkit/cli", "devkit/debug")
pytestmark = pytest.mark.slow  # Spark comes up
DEADLINE = timedelta(seconds=120)
EVENTS = 40


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunState]:
    started = devkit("up", "--out", str(tmp_path_factory.mktemp("up")))
    assert started.returncode == 0, started.stderr
    (state,) = (run for run in known_runs() if run.run_id in started.stdout + started.stderr)
    yield state
    ended = devkit("down", "--run-id", state.run_id)
    assert ended.returncode == 0, ended.stderr


def part_of(run: RunState, text: str) -> list[str]:
    """The lines of this stack."""
    lines = text[text.index(f"stack {run.run_id} ") :].splitlines()[1:]
    return list(itertools.takewhile(lambda line: line.startswith("  "), lines))


def lag(run: RunState) -> dict[str, Any]:
    found = devkit("lag", "--json", "--run-id", run.run_id)
    assert found.returncode == 0, found.stderr
    counts: dict[str, Any] = json.loads(found.stdout)
    return counts


def published(run: RunState) -> int:
    """Events that the source has."""
    return sum(partition["end"] for partition in lag(run)["partitions"])


def test_traffic_leaves_as_outputs(up: RunState) -> None:
    put = devkit("traffic", "--rate", "10/s", "--for", "4s", "--run-id", up.run_id)
    assert put.returncode == 0, put.stderr
    assert f"published {EVENTS} events to mediawiki.page_change.v1" in put.stdout
    assert " as output" in put.stdout
    wait_until(lambda: lag(up)["lag"] == 0, what="the pipeline to drain", deadline=DEADLINE)
    tail = devkit("tail", "output", "--json", "-n", str(EVENTS), "--run-id", up.run_id)
    errors = devkit("tail", "error", "--json", "-n", str(EVENTS), "--run-id", up.run_id)
    assert len(tail.stdout.splitlines()) > EVENTS / 2, errors.stdout


def test_the_traffic_of_a_scenario_ends_with_an_interrupt(up: RunState) -> None:
    words = ["traffic", "retry-storm", "--set", "traffic.for=5m", "--run-id", up.run_id]
    with subprocess.Popen(
        [sys.executable, "-m", "devkit.cli.main", *words],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        wait_until(lambda: published(up) > EVENTS * 2, what="events of the scenario", deadline=DEADLINE)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    found = re.search(r"published ([\d,]+) of ([\d,]+) events to .*\nthey have to end: ([\d,]+) as output", output)
    assert found is not None, output
    sent, of, outputs = (int(number.replace(",", "")) for number in found.groups())
    assert EVENTS < outputs <= sent < of
    wait_until(lambda: lag(up)["lag"] == 0, what="the pipeline to drain", deadline=DEADLINE)


def test_a_topic_that_the_stack_does_not_have_is_named(up: RunState) -> None:
    refused = devkit("traffic", "--topic", "mediawiki.page_chang.v1", "--run-id", up.run_id)
    assert refused.returncode == 2
    assert "there is no topic mediawiki.page_chang.v1" in refused.stderr
    assert "did you mean 'mediawiki.page_change.v1'?" in refused.stderr


def test_programs_and_a_broker_that_a_fault_holds(up: RunState) -> None:
    assert any(line.split()[0] == "pipeline" for line in part_of(up, devkit("ps").stdout))
    add = devkit("fault", "add", "--do", "{pause: {part: kafka}}", "--name", "still", "--run-id", up.run_id)
    assert add.returncode == 0, add.stderr
    try:
        status, ps = devkit("status"), devkit("ps")
        for found in (status, ps):
            assert found.returncode == 3
            (line,) = (line for line in part_of(up, found.stdout) if line.startswith("  fault "))
            assert "still holds kafka (pause: {part: kafka}) since " in line
            assert f"`devkit fault remove still --run-id {up.run_id}` ends it" in line
        assert any(line.startswith("  kafka ") and "DOES NOT ANSWER" in line for line in part_of(up, status.stdout))
        assert any(line.startswith("  kafka ") and "stands still" in line for line in part_of(up, ps.stdout))
        began = time.monotonic()
        hidden = devkit("lag", "--run-id", up.run_id)
        assert time.monotonic() - began < 60, "it was asked all the same"
        assert (hidden.returncode, "the lag cannot be read: kafka does not answer" in hidden.stderr) == (3, True)
    finally:
        removed = devkit("fault", "remove", "still", "--run-id", up.run_id)
    assert removed.returncode == 0, removed.stderr
    assert not any(line.startswith("  fault ") for line in part_of(up, devkit("status").stdout))
