"""What a whole run leaves to be read, however it ends; playing itself is in the integration tests."""

import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import StackError
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_role import ROLES, ArmName
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.play.attempt import Attempt
from devkit.play.options import RunOptions
from devkit.play.run import run_scenario
from devkit.play.run_result import Played, judged
from devkit.report.progress import Progress
from devkit.report.run_record import read_run
from devkit.scenario.model import Scenario
from devkit.verdict.judgement import JudgedArm
from tests.unit.devkit.observed import an_observation

RESTARTED = EndByCondition(reached={"restarts": 2})


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunOptions:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return RunOptions(ROLES, tmp_path / "runs", keep=False, repeat="devkit scenario run an-incident --seed 7")


def played(monkeypatch: pytest.MonkeyPatch, *, error: Exception | None = None) -> None:
    """Both arms are observed at once, or something is raised instead."""

    def play(attempt: Attempt, tells: RunMetadata, *_: Any) -> Played:
        if error is not None:
            raise error
        arms: dict[ArmName, JudgedArm] = {
            "incident": JudgedArm.of(attempt.scenario, "incident", an_observation(end=RESTARTED, restarts=2)),
            "fixed": JudgedArm.of(attempt.scenario, "fixed", an_observation()),
        }
        return judged(tells, arms, None, duration_s=1.0, command="")

    monkeypatch.setattr(Attempt, "_play_on_stack", play)


def test_a_run_with_a_result(scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch)
    out = io.StringIO()
    directory = run_scenario(scenario, options, Progress(out), on_keep=lambda *_: None).directory
    for name in ("result.json", "report.html", "junit.xml", "summary.md", "events.jsonl"):
        assert (directory / name).stat().st_size > 0
    assert "could not be written" not in out.getvalue()
    metadata = read_run(directory).metadata
    assert (metadata.scenario, metadata.title, metadata.reference) == (
        "an-incident",
        scenario.title,
        scenario.incident.reference,
    )
    assert (metadata.quote, metadata.preserves, metadata.time_scale) == (
        scenario.incident.quote,
        scenario.preserves,
        scenario.time_scale,
    )
    assert metadata.repeat == options.repeat
    assert "content_limit.measure" in metadata.config_difference


def test_a_run_that_breaks_off(scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, error=StackError("kafka ended with exit code 1"))
    with pytest.raises(StackError):
        run_scenario(scenario, options, Progress(io.StringIO()), on_keep=lambda *_: None)
    (directory,) = (options.out / "an-incident").iterdir()
    assert "kafka ended with exit code 1" in (directory / "report.html").read_text()
    assert "no verdict" in (directory / "summary.md").read_text()
    assert ET.parse(directory / "junit.xml").getroot().attrib["errors"] == "3"
    assert not (directory / "result.json").exists()


def test_a_run_that_is_killed_leaves_no_success(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill lets nobody write any more, so what stands there beforehand counts."""
    played(monkeypatch, error=KeyboardInterrupt())  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        run_scenario(scenario, options, Progress(io.StringIO()), on_keep=lambda *_: None)
    (directory,) = (options.out / "an-incident").iterdir()
    assert ET.parse(directory / "junit.xml").getroot().attrib["errors"] == "3"
    first = json.loads((directory / "events.jsonl").read_text().splitlines()[0])
    assert (first["kind"], first["arms"]) == ("run", ["incident", "fixed"])
