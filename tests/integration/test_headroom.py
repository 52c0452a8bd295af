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

SCENARIO = REPOSITORY / "tests" / "integration" / "scenarios" / "gone-page.yaml"
MARGIN = 1.1

pytestmark = pytest.mark.slow


@pytest.fixture
def without_room(tmp_path: Path) -> str:
    file = tmp_path / "without-room.yaml"
    file.write_text(f"{SCENARIO.read_text()}\nmargin: {MARGIN}\n")
    return str(file)


def test_beside_busy_processes_what_depends_on_time_is_not_judged(
    devkit_cli: Callable[..., CliRun], without_room: str
) -> None:
    with spinning(4, at_most_s=300):
        run = devkit_cli("scenario", "run", without_room, "--arm", "fixed", "--stretch", "1", "--plain")
        code = run.process.wait(280)
    assert code == 3, run.output()
    (file,) = run.out.glob("*/*/result.json")
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
