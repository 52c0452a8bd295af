"""Scenarios whose timeline acts on real parts and the real pipeline: each fault begins, shows itself and ends."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli_run import CliRun

ROOMS = ("devkit/faults", "devkit/play")
SCENARIOS = Path(__file__).parent / "scenarios"
PAUSE_S = 3.0
Cli = Callable[..., CliRun]


def result_of(run: CliRun) -> dict[str, Any]:
    """Of the last play: what was short of time is played once more."""
    file = run.evidence / "result.json"
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.slow
def test_a_broker_that_stands_still_in_both_arms(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIOS / "paused-broker.yaml"), "--unchecked")
    assert run.wait() == 3, run.output()
    result = result_of(run)
    assert [reason.split(":")[0] for reason in result["reasons"]] == [
        "nothing that is expected tells incident from fixed"
    ]
    assert [(arm["ended_by"], arm["holds"]) for arm in result["arms"].values()] == [("drained", True)] * 2
    assert result["fault_evidence"].keys() == {"incident", "fixed"}
    for arm in result["fault_evidence"].values():
        (evidence,) = (one for one in arm if one["fault"] == "broker stands still")
        assert (evidence["fired"], evidence["acted"]) == (True, True)
        held = re.search(r"was stopped for (\d+\.\d) s, and it answered nothing", evidence["did"])
        assert held, evidence["did"]
        assert float(held[1]) >= PAUSE_S
        assert evidence["to_s"] - evidence["from_s"] >= PAUSE_S
        assert (evidence["irreversible"], evidence["hides"]) == ([], "")
    report = run.evidence / "report.html"
    assert "broker stands still" in report.read_text()


@pytest.mark.slow
def test_a_program_that_is_killed_and_stopped_part_by_part(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIOS / "struck-program.yaml"), "--unchecked", "--arm", "fixed")
    assert run.wait(480) == 0, run.output()
    result = result_of(run)
    evidence = [one for one in result["fault_evidence"]["fixed"] if one["fault"] != "quick"]
    shown = {one["fault"]: (one["acted"], one["did"]) for one in evidence}
    assert [name for name, (acted, _) in shown.items() if not acted] == [], shown
    for part in ("worker", "executor", "driver"):
        assert shown[f"{part} dies"][1].startswith(f"SIGKILL to {part} ")
        assert shown[f"{part} dies"][1].endswith(": ended")
    assert shown["driver stands still"][1].endswith("was stopped")
    assert shown["neighbours"][1].startswith("2 processes used ")
    over = {line["name"]: line for line in run.timeline() if line["kind"] == "fault_ends"}
    ended = [line for line in run.timeline() if line["kind"] == "process_ended"]
    begun = [line for line in run.timeline() if line["kind"] == "process_restarted"]
    assert len(ended) == len(begun) == result["arms"]["fixed"]["restarts"]
    assert result["arms"]["fixed"]["audit"]["lost"] == 0
    for name in ("executor dies", "driver dies"):
        assert any(line["t_s"] > over[name]["t_s"] - 5 for line in ended), name


@pytest.mark.slow
def test_what_the_job_does_under_errors_of_kafka(devkit_cli: Cli) -> None:
    """It repeats what a broker refuses, and ends for a restart where it cannot; docs/running.md has all of them."""
    run = devkit_cli("scenario", "run", str(SCENARIOS / "kafka-errors.yaml"), "--unchecked", "--arm", "fixed")
    assert run.wait(480) == 0, run.output()
    result = result_of(run)
    evidence = [one for one in result["fault_evidence"]["fixed"] if one["fault"] not in ("quick", "slow")]
    assert {one["fault"]: one["did"] for one in evidence if not one["acted"]} == {}
    assert result["arms"]["fixed"]["restarts"] >= 1, "an offset that the topic has was refused"
    assert {line["exit_code"] for line in run.timeline() if line["kind"] == "process_ended"} == {1}


@pytest.mark.slow
def test_a_driver_that_is_killed_at_the_first_entry_of_its_commit_log(devkit_cli: Cli) -> None:
    """Under a supervisor that gives up, and under one that starts it again."""
    run = devkit_cli("scenario", "run", str(SCENARIOS / "killed-at-its-commit.yaml"))
    assert run.wait() == 0, run.output()
    result = result_of(run)
    for arm in ("incident", "fixed"):
        (evidence,) = (one for one in result["fault_evidence"][arm] if one["fault"] != "quick")
        assert (evidence["fired"], evidence["acted"]) == (True, True), evidence
        assert evidence["did"].startswith("SIGKILL to driver ")
        assert 'when request: {methods: [PUT], path: "/checkpoints/*/commits/?*"}' in evidence["asked"]
    incident, fixed = result["arms"]["incident"], result["arms"]["fixed"]
    assert (incident["gave_up"], incident["restarts"], incident["ended_by"]) == (True, 0, "gave up")
    assert (fixed["restarts"], fixed["replays"]) == (1, 1), "the batch was not committed, and was planned again"
    assert (fixed["audit"]["lost"], fixed["audit"]["out_of_order"]) == (0, 0)
