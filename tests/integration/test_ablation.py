"""What the fix needs, on real parts: the fixed arm is played again without each of its differences.

Set-up: a program that ends at one event, without Spark; one variable is the fix, another one and a setting of the
supervisor are not. Checked: which of them the arm needs, and that the incident arm was played once.
"""

import json
from pathlib import Path

import pytest

from devkit.compare.comparison import RunComparison
from devkit.compare.find_run import find_run
from tests.integration.poisoned_scenario import write_scenario
from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/compare", "devkit/play")


@pytest.mark.slow
def test_the_difference_that_is_the_fix_is_told_from_the_others(play_scenario: PlayScenario, tmp_path: Path) -> None:
    run = play_scenario(write_scenario("poisoned", tmp_path), "--ablate")
    assert run.wait(800) == 0, run.output()
    ablation = json.loads((run.evidence / "result.json").read_text())["ablation"]
    assert {one["difference"]: (one["needed"], one["outcome"]) for one in ablation["differences"]} == {
        "supervisor.reset_after": ("no", "fixed arm holds"),
        "programs.own.environment.POISON": ("yes", "fixed arm does not hold"),
        "programs.own.environment.COLOUR": ("no", "fixed arm holds"),
    }
    measured = {
        one["difference"].rpartition(".")[2]: {item["name"]: item["measured"] for item in one["expectations"]}
        for one in ablation["differences"]
    }
    assert {name: found["restarts"] for name, found in measured.items()} == {
        "reset_after": "0",
        "POISON": "1",
        "COLOUR": "0",
    }
    needed = "The fix needs programs.own.environment.POISON."
    assert needed in run.output()
    assert needed in (run.evidence / "report.html").read_text()
    assert "needed: yes" in (run.evidence / "junit.xml").read_text()
    assert "**What fixed needs**" in (run.evidence / "summary.md").read_text()
    results = [json.loads(file.read_text()) for file in run.evidence.glob("ablation/*/result.json")]
    assert [list(result["arms"]) for result in results] == [["fixed"]] * 3
    assert {result["seed"] for result in results} == {3}

    (without,) = run.evidence.glob("ablation/*POISON")
    compared = RunComparison.of(find_run(str(run.evidence), run.out), find_run(str(without), run.out))
    assert (compared.a.outcome, compared.b.outcome) == ("reproduced and fixed", "fixed arm does not hold")
    assert [(one.arm, one.key, one.a, one.b) for one in compared.settings if "POISON" in one.key] == [
        ("fixed", "programs.own.environment.POISON", "skip", None)
    ]
    (restarts,) = [one for one in compared.figures if (one.arm, one.name) == ("fixed", "restarts")]
    assert (restarts.a, restarts.b, restarts.ratio) == (0, 1, None)
