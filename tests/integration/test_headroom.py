"""A machine that is short of time makes a run inconclusive, and not a fix broken.

Set-up: a small scenario whose file says that it leaves next to no room, and four processes that want a core all the
time. Steps: play its fixed arm beside them, as it stands in the file. Checked: exit code, reason, figures, timeline.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.verdicts.machine import spinning
from tests.integration.cli_run import REPOSITORY, CliRun

ROOMS = ("devkit/headroom", "devkit/verdict")
MARGIN = 1.1
# Other work may run beside that of the test: the arm has to get to its end all the same.
SCENARIO = (REPOSITORY / "tests" / "integration" / "scenarios" / "gone-page.yaml").read_text()
SCENARIO = SCENARIO.replace("deadline: 120s", "deadline: 15m")
PATIENCE_S = 1000

pytestmark = pytest.mark.slow


@pytest.fixture
def without_room(tmp_path: Path) -> str:
    file = tmp_path / "without-room.yaml"
    file.write_text(f"{SCENARIO}\nmargin: {MARGIN}\n")
    return str(file)


def test_beside_busy_processes_what_depends_on_time_is_not_judged(
    devkit_cli: Callable[..., CliRun], without_room: str
) -> None:
    with spinning(4, at_most_s=PATIENCE_S):
        run = devkit_cli("scenario", "run", without_room, "--unchecked", "--arm", "fixed", "--stretch", "1", "--plain")
        code = run.wait(PATIENCE_S)
    assert code == 3, run.output()
    file = run.evidence / "result.json"
    result = json.loads(file.read_text())
    assert result["outcome"] == "inconclusive"
    assert any("which says nothing: the machine was short of time" in reason for reason in result["reasons"])
    fixed = result["arms"]["fixed"]
    judged = {item["name"]: item for item in fixed["expectations"]}
    assert judged["drained"]["holds"] is None
    assert judged["drained"]["slowdown"] > MARGIN
    assert judged["audit"]["holds"] is True
    assert fixed["headroom"]["others_cores"] > 0.5, "the busy processes are not the run's"
    assert result["headroom"]["calibration"]["slowdown"] > MARGIN
    lines = [line for line in run.timeline() if line["kind"] == "headroom" and line.get("arm") == "fixed"]
    assert len(lines) > 5
    assert not list(run.out.glob("*/*/first-play")), "--stretch was given, so it is played once"


def test_beside_a_scenarios_own_load_other_work_still_counts(devkit_cli: Callable[..., CliRun], tmp_path: Path) -> None:
    file = tmp_path / "loaded.yaml"
    load = "timeline: [{ name: load, do: { cpu_load: { processes: 1 } }, at: 0s }]"
    file.write_text(f"{SCENARIO}\n{load}\nmargin: {MARGIN}\n")
    with spinning(4, at_most_s=PATIENCE_S):
        run = devkit_cli("scenario", "run", str(file), "--unchecked", "--arm", "fixed", "--stretch", "1", "--plain")
        code = run.wait(PATIENCE_S)
    assert code == 3, run.output()
    result = run.evidence / "result.json"
    reasons = json.loads(result.read_text())["reasons"]
    assert any("without what its own faults took" in reason for reason in reasons), reasons
    shares = [line["fault_share"] for line in run.timeline() if line["kind"] == "headroom" and line.get("arm")]
    assert max(shares) > 0.05, "the load was the scenario's"
