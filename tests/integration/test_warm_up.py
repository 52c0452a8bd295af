"""A program is warmed up on real parts, and nothing of that is in what is judged.

Steps: play one arm with live traffic on two partitions. Checked: an event of each partition was fetched, with its
parent, and was committed before the traffic began; and audit, samples and the mock's counts know the traffic alone.
"""

import json
from pathlib import Path

from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/play",)
SCENARIO = str(Path(__file__).parent / "scenarios" / "warm.yaml")
EVENTS, PARTITIONS = 20, 2


def test_the_warm_up_is_fetched_and_committed_and_nowhere_judged(play_scenario: PlayScenario) -> None:
    run = play_scenario(SCENARIO, "--unchecked", "--arm", "fixed", "--stretch", "1", "--plain")
    assert run.wait() == 0, run.output()
    file = run.evidence / "result.json"
    fixed = json.loads(file.read_text())["arms"]["fixed"]
    timeline = run.timeline()
    kinds = [line["kind"] for line in timeline]
    at = kinds.index("warmed_up")
    warm = timeline[at]
    assert (warm["offsets"], warm["fetches"], warm["problem"]) == ({"0": 0, "1": 0}, 2 * PARTITIONS, None)
    assert at < kinds.index("traffic_begins")
    begun = kinds.index("started")
    assert "sample" not in kinds[begun:at], "none is taken meanwhile"
    assert "batch_started" in kinds[begun:at]
    samples = [line for line in timeline[at:] if line["kind"] == "sample"]
    assert samples[0]["requests"] == samples[0]["committed"] == samples[0]["outputs"] == 0
    last = samples[-1]
    assert last["committed"] == last["source_end"] == EVENTS
    assert last["requests"] == last["faults"]["quick"], "the rules are effective, and matched every request"
    audit = fixed["audit"]
    assert (audit["inputs"], audit["unattributed"]) == (EVENTS, 0)
    assert last["outputs"] == audit["outputs"]
    assert (fixed["caveats"], fixed["cold"]) == ([], "")
    manifest = (file.parent / "fixed" / "manifest.jsonl").read_text().splitlines()
    assert len(manifest) == EVENTS
    assert min(json.loads(line)["offset"] for line in manifest) == 1, "the warm-up has the first offsets"
