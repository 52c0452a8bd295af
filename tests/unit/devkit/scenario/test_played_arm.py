"""From what was observed of an arm to its result."""

import pytest

from devkit.observe.logs import LoggedException
from devkit.observe.sight import Sight
from devkit.scenario.model import Scenario
from devkit.scenario.played_arm import PlayedArm
from tests.unit.devkit.observed import an_observation, some_evidence


@pytest.mark.parametrize(
    ("drained", "unseen", "holds"),
    [(True, set(), True), (False, set(), False), (True, {"sources"}, None), (False, {"sources"}, False)],
)
def test_what_is_broken_decides_before_what_nobody_can_judge(
    scenario: Scenario, drained: bool, unseen: set[Sight], holds: bool | None
) -> None:
    observation = an_observation(drained=drained, unseen=frozenset(unseen))
    assert PlayedArm.of(scenario, "fixed", observation).result.holds is holds


def test_each_arm_has_expectations_of_its_own(scenario: Scenario) -> None:
    named = {
        arm: [one.name for one in PlayedArm.of(scenario, arm, an_observation()).result.expectations]
        for arm in ("incident", "fixed")
    }
    assert named == {"incident": ["restarts", "exception"], "fixed": ["drained", "audit"]}


def test_what_was_seen_is_told_as_it_was(scenario: Scenario) -> None:
    loop = LoggedException(2, "RecordTooLargeException", "The message is 23048294 bytes")
    silent = some_evidence(fired=False)
    observation = an_observation(exceptions=(loop,), evidence=(silent,), duration_s=1.23456)
    played = PlayedArm.of(scenario, "fixed", observation)
    assert played.evidence == (silent,)
    assert played.result.exceptions == ("process 2: RecordTooLargeException: The message is 23048294 bytes",)
    assert played.result.duration_s == 1.235
