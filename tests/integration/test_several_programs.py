"""An arm with three programs on real parts: the pipeline, the reference consumer, and a command that ends once.

Checked: each is started when what it needs runs, is told apart in timeline, logs and result, and has an end of its own.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/observe", "devkit/play", "devkit/programs")
SCENARIOS = Path(__file__).parent / "scenarios"
SCENARIO = str(SCENARIOS / "several.yaml")


@pytest.mark.slow
def test_each_program_is_told_apart(play_scenario: PlayScenario) -> None:
    run = play_scenario(SCENARIO, "--arm", "incident")
    assert run.wait(500) == 0, run.output()
    file = run.evidence / "result.json"
    incident: dict[str, Any] = json.loads(file.read_text())["arms"]["incident"]
    assert (incident["ended_by"], incident["restarts"]) == ("drained", 0)
    html, reader, once = incident["programs"]
    assert [one["run"] for one in (html, reader)] == ["pipeline html-enrichment", "consumer"]
    assert (html["started"], html["exit_codes"], html["is_over"]) == (True, [], False)
    assert (reader["started"], reader["exit_codes"], reader["is_over"]) == (True, [], False)
    assert (once["exit_codes"], once["is_over"], once["restarts"]) == ([3], True, 0)
    assert [one["log"].get("started") for one in (html, reader, once)] == [1, None, None]
    assert html["log"]["batch_written"] >= 9
    assert all(one["peak_memory_bytes"] > 10 << 20 and one["mean_cpu_cores"] is not None for one in (html, reader))
    assert [item["expected"] for item in incident["expectations"][-2:]] == [
        "at most 0 (program reader)",
        "at least 1 of batch_written (program html)",
    ]
    assert "program reader: consumer, ran until the arm's end, never restarted, at most" in run.output()
    seen = {name for line in run.timeline() if line["kind"] == "sample" for name in line["programs"]}
    assert {"html", "reader"} <= seen <= {"html", "reader", "once"}
    page = (file.parent / "report.html").read_text()
    assert all(f"program {name}" in page for name in ("html", "reader", "once"))
    of_processes = [
        (line["kind"], line["program"])
        for line in run.timeline()
        if line["kind"].startswith("process_") or line["kind"] == "started"
    ]
    assert of_processes == [
        ("process_started", "html"),
        ("started", "html"),
        ("process_started", "reader"),
        ("process_started", "once"),
        ("process_ended", "once"),
    ]
    logs = file.parent / "incident" / "logs"
    assert {path.stem for path in logs.glob("*.out")} == {"html-1", "reader-1", "once-1"}
    first = (logs / "reader-1.out").read_text().splitlines()[0]
    assert json.loads(first)["source"]["topic"] == "mediawiki.page_change.v1", "the consumer read what html wrote"


@pytest.mark.slow
def test_each_job_is_audited_by_its_own_truth(play_scenario: PlayScenario) -> None:
    """What the program beside has not taken at the arm's end is pending, and no problem."""
    run = play_scenario(str(SCENARIOS / "two-jobs.yaml"), "--unchecked", "--arm", "incident")
    assert run.wait(500) == 0, run.output()
    file = run.evidence / "result.json"
    incident: dict[str, Any] = json.loads(file.read_text())["arms"]["incident"]
    (html, content), main = incident["programs"], incident["audit"]
    assert (main["inputs"], main["outputs"] + main["errors"] + main["filtered"]) == (61, 61)
    assert html["audit"] is None
    beside = content["audit"]
    assert (beside["inputs"], beside["lost"], beside["mismatched"], beside["misrouted"]) == (61, 0, 0, 0)
    assert beside["outputs"] > 0
    (finding,) = (one for one in incident["expectations"] if one["name"] == "audit")
    assert "; content: clean: 61 in = " in finding["measured"]
