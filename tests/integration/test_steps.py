"""An arm with steps on real parts: a checkpoint is lost, the restart is refused, and an operator says where to begin.

Checked: the fault deletes all of it, what the program says when it refuses is the cause, the operator's command and
start are recorded, no event is lost, and how many are emitted twice depends on where the operator begins.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli_run import CliRun

ROOMS = ("devkit/play",)
SCENARIO = Path(__file__).parent / "scenarios" / "steps.yaml"
Cli = Callable[..., CliRun]


@pytest.mark.slow
def test_an_operator_sets_a_refused_start_right(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIO))
    assert run.wait(560) == 0, run.output()
    result: dict[str, Any] = json.loads((run.evidence / "result.json").read_text())
    assert result["outcome"] == "reproduced and fixed"
    assert [one["shown"] for one in result["cause"]] == [True, True]
    fixed = result["arms"]["fixed"]
    assert [one["holds"] for one in fixed["steps"]] == [True] * 4
    command = fixed["steps"][2]
    assert command["exit_code"] == 2
    assert "holds no position" in command["output"]
    assert "holds no position" in (run.evidence / "fixed" / "logs" / "operator-3.log").read_text()
    assert fixed["restarts"] == 1, "what the operator starts is no restart"
    started = [line["start"] for line in run.timeline() if line["kind"] == "started" and line["arm"] == "fixed"]
    assert started[0] == "earliest"
    assert started[1].startswith("timestamp=")
    assert result["arms"]["incident"]["audit"]["duplicated"] > fixed["audit"]["duplicated"]
