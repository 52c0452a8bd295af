"""A debugger in the pipeline, really attached: over the debug protocol, with a breakpoint in code of the pipeline.

Set-up: a scenario of one arm with `--debug`. Steps: attach where it says, stop, look at a value, let go. Checked: the
value; the run goes on to its end, and its outcome is inconclusive because somebody looked.
"""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.waiting import wait_until
from tests.integration.cli_run import REPOSITORY, CliRun
from tests.integration.debug_client import DebugClient

ROOMS = ("devkit/debug",)
SCENARIO = str(Path(__file__).parent / "scenarios" / "gone-page.yaml")
WAITS = re.compile(r"debugger\s+at\s+127\.0\.0\.1:(\d+)")
Cli = Callable[..., CliRun]


def line_of(file: Path, text: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def attached(port: int) -> DebugClient:
    """A client, as soon as the port answers."""

    def connect() -> DebugClient | None:
        try:
            return DebugClient(port)
        except ConnectionRefusedError:
            return None

    return wait_until(connect, what=f"a process to wait at port {port}", deadline=timedelta(seconds=120))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "file", "text", "expression", "value"),
    [
        ("driver", "pipeline/driver/query.py", "log.emit(Started(", "resolved.config.job", "'html-enrichment'"),
        ("worker", "pipeline/worker/spark_task.py", "policy = _policy(config)", "config.fetch.concurrency > 0", "True"),
    ],
)
def test_it_waits_stops_shows_and_goes_on(
    devkit_cli: Cli, role: str, file: str, text: str, expression: str, value: str
) -> None:
    run = devkit_cli("scenario", "run", SCENARIO, "--unchecked", "--arm", "fixed", "--debug", role)
    waits = run.await_condition(lambda: WAITS.search(run.output()), "the line that says where to attach")
    place = REPOSITORY / file
    with attached(int(waits[1])) as client:
        client.attach(place, line_of(place, text))
        assert client.value_at_the_stop(expression) == value
        client.let_go()
    assert run.wait() == 3, run.output()
    result = run.evidence / "result.json"
    found = json.loads(result.read_text())
    assert found["outcome"] == "inconclusive"
    assert found["reasons"] == ["fixed: it was debugged, so its times are not the scenario's"]
    assert found["arms"]["fixed"]["ended_by"] == "drained"
