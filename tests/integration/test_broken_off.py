"""The kit itself fails in a later arm: what was found of the arm before it stays.

Set-up: a program that ends at one event, without Spark. Steps: the mock API is killed by its process id when the
traffic of the fixed arm has begun. Checked: the exit code, the result of the arm that had ended, the reports, and that
nothing of the run is left.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import psutil
import pytest

from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun, alive
from tests.integration.poisoned_scenario import write_scenario

ROOMS = ("devkit/play", "devkit/report")


def mock_of(run: CliRun) -> psutil.Process:
    (mock,) = (process for process in run.processes() if "mockapi" in process.cmdline())
    return mock


@pytest.mark.slow
def test_what_was_found_of_the_arms_that_ended_stays(devkit_cli: Callable[..., CliRun], tmp_path: Path) -> None:
    run = devkit_cli("scenario", "run", write_scenario("poisoned", tmp_path), "--stretch", "1", "--plain")
    run.await_event("traffic_begins", 300, arm="fixed")
    processes = run.processes()
    mock_of(run).kill()
    assert run.wait() == 3, run.output()

    result = json.loads((run.evidence / "result.json").read_text())
    assert (result["outcome"], result["exit_code"], list(result["arms"])) == ("inconclusive", 3, ["incident"])
    assert result["broke_off"].startswith("mock-api ended by signal 9")
    (reason,) = result["reasons"]
    assert reason == f"the kit could not go on, before the fixed arm had ended: {result['broke_off']}"
    incident = result["arms"]["incident"]
    assert (incident["holds"], incident["restarts"], incident["ended_by"]) == (True, 1, "restarts 1")
    assert incident["audit"]["inputs"] > 0

    cases = list(ET.parse(run.evidence / "junit.xml").iter("testcase"))
    in_error = {case.get("classname") for case in cases if case.find("error") is not None}
    assert in_error == {"poisoned.fixed", "poisoned.verdict"}
    assert any(case.get("classname") == "poisoned.incident" for case in cases)
    assert "the kit could not go on" in (run.evidence / "report.html").read_text()
    assert "Traceback" not in run.output()
    wait_until(lambda: not alive(processes), what="the run's processes to end", deadline=timedelta(seconds=30))
