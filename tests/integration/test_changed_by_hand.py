"""A rule of the mock that is switched off while an arm is played, and on again: nothing is left of it to be seen.

Set-up: a small scenario. Steps: when its traffic has begun, a stranger switches one of its rules off and on. Checked:
the run is inconclusive although all expectations hold, and the reason says what was done and by whom.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from tests.integration.cli_run import CliRun

ROOMS = ("devkit/play", "devkit/verdict")
SCENARIO = str(Path(__file__).parent / "scenarios" / "gone-page.yaml")

pytestmark = pytest.mark.slow


def test_a_rule_that_was_off_for_a_moment_makes_the_run_inconclusive(devkit_cli: Callable[..., CliRun]) -> None:
    run = devkit_cli("scenario", "run", SCENARIO, "--unchecked", "--arm", "fixed", "--plain")
    address = run.await_event("address", part="mock API")["address"]
    run.await_event("traffic_begins")
    for enabled in (False, True):
        answer = requests.patch(
            f"{address}/__mock/rules/slow", json={"enabled": enabled}, headers={"User-Agent": "stranger"}, timeout=30
        )
        assert answer.ok, answer.text
    assert run.wait() == 3, run.output()
    result = run.evidence / "result.json"
    found = json.loads(result.read_text())
    off, on = found["reasons"]
    assert off.startswith("fixed: fault 'slow' was switched off by hand (")
    assert off.endswith(", stranger at 127.0.0.1)")
    assert on.startswith("fixed: fault 'slow' was switched on by hand (")
    assert found["arms"]["fixed"]["holds"] is not False, "its expectations say nothing against it"
