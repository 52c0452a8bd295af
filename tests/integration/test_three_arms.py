"""A scenario of three arms on real parts, with a program that shares no code with the kit: two supervisors, one fix.

Checked: every arm is played and judged by its own expectations, and the cause is shown by what the supervisors did.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.poisoned_scenario import write_scenario
from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/play", "devkit/programs", "devkit/verdict")


@pytest.mark.slow
def test_every_arm_counts_and_giving_up_is_an_outcome(play_scenario: PlayScenario, tmp_path: Path) -> None:
    run = play_scenario(write_scenario("three-arms", tmp_path))
    assert run.wait(500) == 0, run.output()
    file = run.evidence / "result.json"
    result: dict[str, Any] = json.loads(file.read_text())
    assert result["outcome"] == "reproduced and fixed"
    assert result["roles"] == {"incident": "incident", "stubborn": "incident", "fixed": "fixed"}
    assert {name: (arm["gave_up"], arm["restarts"]) for name, arm in result["arms"].items()} == {
        "incident": (True, 1),
        "stubborn": (False, 2),
        "fixed": (False, 0),
    }
    (cause,) = result["cause"]
    assert cause["shown"], cause
    assert [line["restarts"] for line in run.timeline() if line["kind"] == "supervisor_gave_up"] == [1]
    assert "given up by its supervisor after 1 restart in a row" in run.output()
