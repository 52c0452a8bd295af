"""A grace for revisions that replicas do not know yet acts in a scenario whose events are received when published.

Set-up: a page whose revisions are unknown to the first two requests, with a grace and without. Checked: the verdict.
"""

from pathlib import Path

import pytest

from tests.integration.shared_stack import PlayScenario

ROOMS = ("pipeline/fetch",)
SCENARIO = Path(__file__).parent / "scenarios" / "lagging-replica.yaml"


# A whole run of two arms.
@pytest.mark.slow
def test_the_grace_is_what_the_fix_needs(play_scenario: PlayScenario) -> None:
    run = play_scenario(str(SCENARIO))
    assert run.wait() == 0, run.output()
    assert "fetch.not_found_grace: 0s (incident) → 1h (fixed)" in run.output()
