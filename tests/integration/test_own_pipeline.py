"""The same scenario against a program under test that shares no code with the kit.

Set-up: the template of the documents as the command, and `own_pipeline.py` for what only a test wants; the session's
Kafka and mock, no Spark. Checked: the verdict, what is n/a and why.
"""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.poisoned_scenario import write_scenario
from tests.integration.shared_stack import PlayScenario
from tests.own_pipeline_page import CARELESS, HAMMERING, LAGGING, block, careless, lagging, mine
from tests.own_pipeline_page import TEMPLATE as TEMPLATE_FILE

ROOMS = ("docs", "devkit/observe", "devkit/programs")
HERE = Path(__file__).parent
SCENARIO = str(HERE / "scenarios" / "own.yaml")
TEMPLATE = [sys.executable, str(TEMPLATE_FILE)]
OWN = [sys.executable, str(HERE / "own_pipeline.py")]


def played(play_scenario: PlayScenario, command: list[str], arm: str, code: int) -> dict[str, Any]:
    only = [] if arm == "both" else ["--arm", arm]
    run = play_scenario(SCENARIO, *only, "--pipeline", shlex.join(command))
    assert run.wait(500) == code, run.output()
    file = run.evidence / "result.json"
    result: dict[str, Any] = json.loads(file.read_text())
    return result


def test_what_the_template_shows_is_judged_and_the_rest_is_named(play_scenario: PlayScenario) -> None:
    result = played(play_scenario, TEMPLATE, "both", code=3)
    incident, fixed = result["arms"]["incident"], result["arms"]["fixed"]
    assert result["outcome"] == "inconclusive"
    assert result["pipeline"] == shlex.join(TEMPLATE)
    assert (incident["holds"], incident["ended_by"]) == (True, "drained")
    assert fixed["holds"] is None
    assert [(item["name"], item["holds"]) for item in fixed["expectations"]] == [
        ("drained", True),
        ("replays", None),
        ("flat_commit", True),
    ]
    assert [reason.split(":")[1] for reason in result["reasons"]] == [" replays"]
    audit = incident["audit"]
    assert audit["inputs"] == audit["outputs"] + audit["errors"] + audit["filtered"] == 61
    assert audit["lost"] == audit["unattributed"] == 0


def both_arms(play_scenario: PlayScenario, directory: Path, program: str, scenario: str) -> list[dict[str, Any]]:
    """Incident and fix of a scenario of the documents, which is reproduced and fixed."""
    (directory / "mine.py").write_text(program)
    command = shlex.join([sys.executable, str(directory / "mine.py")])
    file = directory / "scenario.yaml"
    file.write_text(block("yaml", scenario).replace("python mine.py", command))
    run = play_scenario(str(file))
    assert run.wait(500) == 0, run.output()
    arms = json.loads((run.evidence / "result.json").read_text())["arms"]
    return [arms[name] for name in ("incident", "fixed")]


@pytest.mark.slow
def test_the_scenario_of_the_documents_is_reproduced_and_fixed(play_scenario: PlayScenario, tmp_path: Path) -> None:
    arms = both_arms(play_scenario, tmp_path, mine(), HAMMERING)
    assert [arm["ended_by"] for arm in arms] == ["drained", "drained"]
    assert [arm["figures"]["amplification"] > 2 for arm in arms] == [True, False]


@pytest.mark.slow
def test_a_client_of_the_action_api(play_scenario: PlayScenario, tmp_path: Path) -> None:
    arms = both_arms(play_scenario, tmp_path, lagging(), LAGGING)
    assert [arm["audit"]["lost"] + arm["audit"]["pending"] for arm in arms] == [0, 0]


def test_what_a_consumer_group_has_committed_and_a_crash_lost(play_scenario: PlayScenario, tmp_path: Path) -> None:
    arms = both_arms(play_scenario, tmp_path, careless(), CARELESS)
    assert [(arm["ended_by"], arm["restarts"], arm["audit"]["pending"]) for arm in arms] == [("drained", 1, 0)] * 2
    assert [arm["audit"]["lost"] > 0 for arm in arms] == [True, False]


@pytest.mark.slow
def test_a_broken_expectation_refutes_all_the_same(play_scenario: PlayScenario) -> None:
    """It ends once, half-way, and goes on from its own position: restarted, so the incident arm does not hold."""
    result = played(play_scenario, [*OWN, "--crash-after", "45"], "incident", code=1)
    incident = result["arms"]["incident"]
    assert result["outcome"] == "incident arm does not hold"
    assert (incident["ended_by"], incident["restarts"]) == ("restarts 1", 1)
    assert incident["audit"]["outputs"] >= 10


@pytest.mark.slow
def test_without_sources_it_has_drained_when_as_many_records_have_left(play_scenario: PlayScenario) -> None:
    result = played(play_scenario, [*OWN, "--no-headers"], "incident", code=0)
    (drained,) = [item for item in result["arms"]["incident"]["expectations"] if item["name"] == "drained"]
    assert drained["holds"]


def test_one_that_never_does_anything_says_nothing_of_the_incident(play_scenario: PlayScenario) -> None:
    run = play_scenario(SCENARIO, "--arm", "incident", "--pipeline", "sh -c 'echo no such luck >&2; exit 2'")
    assert run.wait() == 3
    assert "ended with exit code 2 before it fetched or wrote anything: no such luck" in run.output()


def test_a_start_that_fails_is_an_outcome_where_the_file_expects_it(
    play_scenario: PlayScenario, tmp_path: Path
) -> None:
    command = ["sh", "-c", f'test "$MODE" = works || exit 3; exec {shlex.join(OWN)}']
    file = tmp_path / "fails-at-start.yaml"
    text = (HERE / "scenarios" / file.name).read_text()
    file.write_text(text.replace("run: RUN", f"run: {json.dumps('command ' + shlex.join(command))}"))
    run = play_scenario(str(file))
    assert run.wait(500) == 0, run.output()
    result = json.loads((run.evidence / "result.json").read_text())
    assert result["cause"][0]["did"] == "broken (incident), works (fixed), as its process was started"
    assert (result["arms"]["incident"]["gave_up"], result["arms"]["incident"]["restarts"]) == (True, 1)


@pytest.mark.slow
def test_an_event_that_it_swallowed_is_named_with_the_exception_of_its_log(
    play_scenario: PlayScenario, tmp_path: Path
) -> None:
    """It goes on as if nothing were wrong, and commits the event: the verdict says which one is lost, and why."""
    swallow = "arms.fixed.programs.own.environment.POISON=swallow"
    lost = "expect.fixed=[{audit: {lost: 0}}]"
    file = write_scenario("poisoned", tmp_path)
    run = play_scenario(file, "--arm", "fixed", "--set", swallow, "--set", lost)
    assert run.wait(500) == 1, run.output()
    fixed = json.loads((run.evidence / "result.json").read_text())["arms"]["fixed"]
    assert fixed["audit"]["lost"] >= 1
    assert [one["text"] for one in fixed["complaints"]] == ["KeyError: 'no such part'"]
    assert "fixed: own process 1, exception: KeyError: 'no such part'" in run.output()
    assert "fixed: lost: page 'Poison', event " in run.output()
    assert f"not the file as it is: {swallow.replace('=', ': skip → ')}" in run.output()
