"""What an arm can be held to besides its delivery, measured of real parts under traffic of every shape.

Set-up: a scenario with phases, a slow page with a share of the events, canaries at intervals and patched events.
Checked: each expectation was judged by something that was measured, and the events are those that the traffic says.
"""

import json
from pathlib import Path

import pytest

from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/expectations", "devkit/observe")
SCENARIO = Path(__file__).parent / "scenarios" / "signs-of-an-incident.yaml"


@pytest.mark.slow
def test_each_sign_is_measured(play_scenario: PlayScenario) -> None:
    run = play_scenario(str(SCENARIO))
    assert run.wait(900) == 0, run.output()
    result = json.loads((run.evidence / "result.json").read_text())
    assert result["arms"]["incident"]["ended_by"].startswith("drained and log batch_written ")
    judged = [one for arm in result["arms"].values() for one in arm["expectations"]]
    assert [one for one in judged if not one["holds"] or one["measured"].startswith("n/a")] == []
    names = {one["name"] for one in judged}
    assert names >= {"audit", "error_events", "lag", "memory", "metric", "commit_time", "rate", "compare"}
    for arm in result["arms"].values():
        audit = arm["audit"]
        assert (audit["inputs"], audit["misrouted"], audit["mismatched"], audit["lost"]) == (157, 0, 0, 0)
