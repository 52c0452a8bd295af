"""The verdict of a scenario is computed: the same file with one thing changed gives another outcome.

Set-up: the shipped scenario and copies of it. Steps: run each through the command line, real Kafka, Spark and S3.
Checked: exit code, `result.json` against its schema, the figures it holds.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from tests.integration.cli_run import REPOSITORY, CliRun
from tests.readme_sample import missing_from

ROOMS = ("scenarios", "devkit/report", "devkit/scenario", "devkit/verdict")
SCENARIO = REPOSITORY / "scenarios" / "oversized-message.yaml"
SCHEMA = REPOSITORY / "devkit" / "report" / "result.schema.json"
Cli = Callable[..., CliRun]


def result_of(run: CliRun) -> dict[str, Any]:
    file = run.evidence / "result.json"
    result: dict[str, Any] = json.loads(file.read_text())
    jsonschema.validate(result, json.loads(SCHEMA.read_text()))
    return result


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[Callable[[Any], None]], str]:
    """Writes a copy of the scenario that names no cause, after a change to its document: so the arms alone decide."""

    def write(change: Callable[[Any], None]) -> str:
        yaml = YAML(typ="rt")
        document = yaml.load(SCENARIO.read_text())
        del document["cause"]
        change(document)
        target = tmp_path / "changed.yaml"
        with target.open("w") as file:
            yaml.dump(document, file)
        return str(target)

    return write


def test_the_incident_is_reproduced_and_fixed(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", "oversized-message", "--seed", "11")
    code = run.wait()
    result = result_of(run)
    assert code == 0, run.output()
    assert result["outcome"] == "reproduced and fixed"
    assert result["seed"] == 11
    incident, fixed = result["arms"]["incident"], result["arms"]["fixed"]
    assert incident["holds"]
    assert fixed["holds"]
    # The producer's own figure, from its own exception, whatever the seed.
    assert any("The message is 23048294 bytes when serialized" in line for line in incident["exceptions"])
    assert incident["restarts"] == 2
    assert incident["replays"] >= 1
    assert incident["audit"]["pending"] > 0
    audit = fixed["audit"]
    assert fixed["restarts"] == 0
    assert audit["inputs"] == 161
    assert audit["inputs"] == audit["outputs"] + audit["errors"] + audit["filtered"]
    assert audit["errors"] > 0, "malformed events end as error events, and the stream goes on"
    assert audit["filtered"] > 0
    for problem in ("deferred", "lost", "duplicated", "conflicting", "out_of_order", "misrouted", "mismatched"):
        assert audit[problem] == 0, problem
    assert result["config_difference"] == {
        "content_limit.measure": {"incident": "content_length", "fixed": "decoded"},
        "record_limit.policy": {"incident": "none", "fixed": "serialized"},
    }
    for evidence in result["fault_evidence"].values():
        (fault,) = evidence
        assert fault["fired"]
        # What the limit saw, against what was there.
        assert fault["max_content_length_bytes"] == fault["max_wire_bytes"] < 18 * 1024 * 1024 / 10
        assert fault["max_real_bytes"] == 17_300_032
    directory = (run.out / "latest").resolve()
    for name in ("result.json", "events.jsonl", "incident/pipeline.yaml", "fixed/pipeline.yaml"):
        assert (directory / name).stat().st_size > 0
    assert "REPRODUCED AND FIXED" in run.output()
    assert missing_from(run.output()) == [], "the README shows what a run says"


@pytest.mark.slow
def test_the_fix_in_the_incident_arm_is_not_reproduced(devkit_cli: Cli, changed: Callable[..., str]) -> None:
    def use_the_fix_everywhere(document: Any) -> None:
        document["arms"]["incident"] = document["arms"]["fixed"]

    run = devkit_cli("scenario", "run", changed(use_the_fix_everywhere), "--unchecked")
    assert run.wait() == 1, run.output()
    result = result_of(run)
    assert result["outcome"] == "not reproduced"
    assert result["arms"]["incident"]["restarts"] == 0
    assert result["arms"]["fixed"]["holds"]
    assert result["config_difference"] == {}


@pytest.mark.slow
def test_the_incident_in_the_fixed_arm_is_no_fix(devkit_cli: Cli, changed: Callable[..., str]) -> None:
    def use_the_incident_everywhere(document: Any) -> None:
        document["arms"]["fixed"] = document["arms"]["incident"]

    run = devkit_cli("scenario", "run", changed(use_the_incident_everywhere), "--unchecked")
    assert run.wait() == 1, run.output()
    result = result_of(run)
    assert result["outcome"] == "fix does not hold"
    assert result["arms"]["incident"]["holds"]
    assert result["arms"]["fixed"]["restarts"] == 2


@pytest.mark.slow
def test_without_the_huge_page_the_run_is_inconclusive(devkit_cli: Cli, changed: Callable[..., str]) -> None:
    def remove_the_rule(document: Any) -> None:
        document["mock"]["rules"] = []

    run = devkit_cli("scenario", "run", changed(remove_the_rule))
    assert run.wait() == 3, run.output()
    result = result_of(run)
    assert result["outcome"] == "inconclusive"
    assert any("no fault was injected" in reason for reason in result["reasons"])


@pytest.mark.slow
def test_two_runs_at_the_same_time_both_succeed(devkit_cli: Cli) -> None:
    # The second has settings of other work around it, which must not matter.
    foreign = {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "AWS_PROFILE": "no-such-profile",
        "SPARK_HOME": "/nonexistent",
        "JAVA_TOOL_OPTIONS": "-Xmx1m",
        "PYSPARK_PYTHON": "/nonexistent/python",
    }
    runs = [
        devkit_cli("scenario", "run", "oversized-message", "--arm", "fixed", "--seed", seed, env=env)
        for seed, env in (("1", {}), ("2", foreign))
    ]
    assert [run.wait() for run in runs] == [0, 0], [run.output() for run in runs]
    assert [result_of(run)["outcome"] for run in runs] == ["fixed arm holds"] * 2
    assert runs[0].run_id() != runs[1].run_id()


# A whole run. That the generator expects the error event, and the audit asks for it, is in their unit tests.
@pytest.mark.slow
def test_a_page_whose_right_outcome_is_an_error_event(devkit_cli: Cli) -> None:
    file = Path(__file__).parent / "scenarios" / "gone-page.yaml"
    run = devkit_cli("scenario", "run", str(file), "--unchecked", "--arm", "fixed")
    assert run.wait() == 0, run.output()
    fixed = result_of(run)["arms"]["fixed"]
    audit = fixed["audit"]
    assert audit["inputs"] == 62
    assert audit["errors"] >= 2
    assert audit["inputs"] == audit["outputs"] + audit["errors"] + audit["filtered"]
    assert audit["misrouted"] == audit["mismatched"] == audit["out_of_order"] == 0
