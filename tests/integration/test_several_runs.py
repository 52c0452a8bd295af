"""A scenario played several times, on real parts: every run has a seed and evidence of its own.

Set-up: a program that ends at one event, without Spark; a fault that no seed changes, so that every run must agree.
"""

import json
from pathlib import Path

import pytest

from devkit.report.series_directory import read_series, runs_of
from tests.integration.poisoned_scenario import write_scenario
from tests.integration.shared_stack import PlayScenario

ROOMS = ("devkit/cli", "devkit/report")


@pytest.mark.slow
def test_runs_agree_and_their_rate_has_an_interval(play_scenario: PlayScenario, tmp_path: Path) -> None:
    run = play_scenario(write_scenario("poisoned", tmp_path), "--runs", "2", "--arm", "fixed")
    assert run.wait(500) == 0, run.output()
    results = [json.loads(file.read_text()) for file in sorted(run.out.glob("poisoned/*/result.json"))]
    assert [(one["seed"], one["exit_code"]) for one in results] == [(3, 0), (4, 0)]
    assert "exit 0, holds:         2 of 2, 100%  (34% to 100% with 95% confidence)" in run.output()
    (directory,) = run.out.glob("poisoned/series-*")
    series = read_series(directory)
    assert [(one.seed, one.outcome) for one in series.runs] == [(3, "fixed arm holds"), (4, "fixed arm holds")]
    assert all((place / "report.html").is_file() for place in runs_of(directory))
    assert "2 of 2 runs hold" in (directory / "report.html").read_text()
    assert (run.out / "latest").resolve() == runs_of(directory)[-1]
