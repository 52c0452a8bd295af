"""From what was observed to the result; playing itself is in the integration tests."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import PartError
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.logs.logs import LoggedException
from devkit.play.attempt import run_metadata
from devkit.play.options import RunOptions
from devkit.play.run_result import broken_off, judged
from devkit.report.result import Result
from devkit.report.verdict_lines import verdict_lines
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.verdict.judgement import JudgedArm
from tests.unit.devkit.observed import an_observation, some_evidence

LOOP = LoggedException(1, "RecordTooLargeException", "The message is 23048294 bytes")
OPTIONS = RunOptions(("incident", "fixed"), Path("runs"), keep=False, repeat="devkit scenario run an-incident")
BEGAN = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def result_of(scenario: Scenario, observations: dict[ArmName, ArmObservation]) -> Result:
    played = {arm: JudgedArm.of(scenario, arm, observation) for arm, observation in observations.items()}
    return judged(run_metadata(resolve(scenario), OPTIONS, BEGAN), played, None, duration_s=34.56789, command="").result


def both(**changes: Any) -> dict[ArmName, ArmObservation]:
    incident = an_observation(end=EndByCondition(reached={"replays": 2}), restarts=2, exceptions=(LOOP,), drained=False)
    return {"incident": incident, "fixed": an_observation(**changes)}


def test_reproduced_and_fixed(scenario: Scenario) -> None:
    result = result_of(scenario, both())
    assert (result.outcome, result.exit_code, result.reasons) == ("reproduced and fixed", 0, ())
    assert (result.scenario, result.seed, result.began, result.duration_s) == ("an-incident", 7, BEGAN, 34.568)
    incident = result.arms["incident"]
    assert (incident.holds, incident.restarts, incident.ended_by) == (True, 2, "replays 2")
    assert incident.exceptions == ("process 1: RecordTooLargeException: The message is 23048294 bytes",)
    assert [item.name for item in incident.expectations] == ["restarts", "exception"]
    assert result.arms["fixed"].duration_s == 12.346


def test_an_arm_holds_when_all_its_expectations_do(scenario: Scenario) -> None:
    result = result_of(scenario, both(drained=False))
    fixed = result.arms["fixed"]
    assert [(item.name, item.holds) for item in fixed.expectations] == [("drained", False), ("audit", True)]
    assert not fixed.holds
    assert (result.outcome, result.exit_code) == ("fix does not hold", 1)


def test_a_fault_that_no_request_met_did_not_fire(scenario: Scenario) -> None:
    silent = some_evidence(fired=False, requests=0, completed=0)
    result = result_of(scenario, both(evidence=(silent,)))
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    assert result.reasons == ("fixed: fault 'huge page' matched no request",)
    assert [item.fired for item in result.fault_evidence["fixed"]] == [False]


def test_an_arm_by_itself(scenario: Scenario) -> None:
    result = result_of(scenario, {"fixed": an_observation()})
    assert (result.outcome, result.exit_code, list(result.arms)) == ("fixed arm holds", 0, ["fixed"])


def test_what_is_known_of_an_arm_is_kept_when_the_kit_fails_in_the_next(scenario: Scenario) -> None:
    played = {"incident": JudgedArm.of(scenario, "incident", both()["incident"])}
    error = PartError("Kafka did not answer", part="kafka", hint="read its log")
    result = broken_off(run_metadata(resolve(scenario), OPTIONS, BEGAN), played, None, error, duration_s=3, command="")
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    (reason,) = result.reasons
    assert reason.startswith("the kit could not go on, before the fixed arm had ended: Kafka did not answer")
    assert (list(result.arms), result.arms["incident"].holds) == (["incident"], True)
    lines = "\n".join(verdict_lines(result, Path("runs/one")))
    assert "incident arm holds" in lines
    assert f"next: see to that, then `{OPTIONS.repeat}`" in lines
    assert Result.model_validate_json(result.model_dump_json()) == result


def test_the_difference_between_the_arms_is_in_the_result(scenario: Scenario) -> None:
    difference = result_of(scenario, both()).config_difference
    assert {key: (one["incident"], one["fixed"]) for key, one in difference.items()} == {
        "content_limit.measure": ("content_length", "decoded"),
        "record_limit.policy": ("none", "serialized"),
    }


@pytest.mark.parametrize("package", ["python", "system", "pyspark", "kafka-python"])
def test_the_versions_that_decide_are_in_the_result(scenario: Scenario, package: str) -> None:
    assert result_of(scenario, both()).versions[package]


def test_what_was_not_seen_makes_an_arm_that_cannot_be_judged(scenario: Scenario) -> None:
    result = result_of(scenario, both(not_observable=frozenset({"sources"})))
    assert [(item.name, item.holds) for item in result.arms["fixed"].expectations] == [
        ("drained", True),
        ("audit", None),
    ]
    assert result.arms["fixed"].holds is None
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    assert result.reasons[0].startswith("fixed: audit: expected clean, measured n/a: not observable")


def test_one_broken_expectation_decides_whatever_is_not_known(scenario: Scenario) -> None:
    result = result_of(scenario, both(not_observable=frozenset({"sources"}), drained=False))
    assert (result.arms["fixed"].holds, result.outcome) == (False, "fix does not hold")


def test_caveats_reach_the_result(scenario: Scenario) -> None:
    result = result_of(scenario, both(caveats=("fault 'x' was put in by hand",)))
    assert (result.outcome, result.reasons) == ("inconclusive", ("fixed: fault 'x' was put in by hand",))
