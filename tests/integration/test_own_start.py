"""Arms that start otherwise than each other, with the real Spark: a configuration file with a mistake of its own, and
what an arm has of its own besides configuration.

Checked: a refused start and other settings than declared are outcomes; Spark's settings and slots are confirmed by its
own log; the start position, arguments, rules of the mock and the timeline are the arm's.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli_run import CliRun
from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/play", "devkit/programs", "devkit/scenario")
SCENARIOS = Path(__file__).parent / "scenarios"


def played(play_scenario: PlayScenario, name: str) -> tuple[CliRun, dict[str, Any]]:
    run = play_scenario(str(SCENARIOS / f"{name}.yaml"))
    assert run.wait(560) == 0, run.output()
    result: dict[str, Any] = json.loads((run.evidence / "result.json").read_text())
    return run, result


@pytest.mark.slow
def test_a_mistake_in_the_configuration_file_itself_is_an_outcome(play_scenario: PlayScenario) -> None:
    run, result = played(play_scenario, "raw-config")
    assert result["arms"]["misspelt"]["end"] == {"by": "refusal"}
    assert "max_ofsets" in result["cause"][0]["did"]
    assert "max_ofsets" in (run.evidence / "misspelt" / "pipeline.yaml").read_text()
    logged = {line["arm"]: line["start"] for line in run.timeline() if line["kind"] == "started"}
    assert logged.keys() == {"colleague", "fixed"}


@pytest.mark.slow
def test_what_an_arm_has_of_its_own_is_effective(play_scenario: PlayScenario) -> None:
    run, result = played(play_scenario, "own-start")
    assert [one["shown"] for one in result["cause"]] == [True] * 3, result["cause"]
    started = {line["arm"]: line["start"] for line in run.timeline() if line["kind"] == "started"}
    assert started == {"incident": "latest", "fixed": "earliest"}
    spark = {line["arm"]: line["spark"] for line in run.timeline() if line["kind"] == "effective_settings"}
    assert spark["incident"]["spark.master"] == "local[2]"
    assert spark["incident"]["spark.sql.shuffle.partitions"] == "3"
    evidence = result["fault_evidence"]
    assert [one["fault"] for one in evidence["incident"]] == ["gone page"]
    assert [(one["fault"], one["acted"]) for one in evidence["fixed"]] == [("driver still", True)]
