"""A container's limit on the real pipeline: it killed as 137, started again, and what held the memory is kept."""

import json
from pathlib import Path

from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/container",)
SCENARIO = str(Path(__file__).parent / "scenarios" / "small-container.yaml")


def test_over_its_memory_the_pipeline_is_killed_and_restarted(play_scenario: PlayScenario) -> None:
    run = play_scenario(SCENARIO, "--unchecked", "--arm", "incident")
    # No fault was injected, so there is no verdict; what happened to the arm is known all the same.
    assert run.wait() == 3, run.output()
    file = run.evidence / "result.json"
    arm = json.loads(file.read_text())["arms"]["incident"]
    assert [one["holds"] for one in arm["expectations"]] == [True, True]
    kills = arm["figures"]["container"]["kills"]
    assert kills[0]["used"] > kills[0]["allowed"] == 250 << 20
    assert sum(row["size"] for row in kills[0]["memory"]["rows"]) >= kills[0]["allowed"]
    assert {row["kind"] for row in kills[0]["memory"]["rows"]} & {"JVM heap", "JVM besides the heap"}
    ended = run.event("process_ended")
    assert ended is not None
    assert ended["exit_code"] == 137
    assert "enforced by sampling" in " ".join(run.output().split())
