"""From what was observed of an arm to its result."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from devkit.errors import INCONCLUSIVE
from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.logs import LoggedException
from devkit.observe.observable import Observable
from devkit.report.result import ArmResult
from devkit.scenario.arms import Expectations
from devkit.scenario.model import Scenario
from devkit.scenario.played_arm import PlayedArm
from devkit.scenario.verdict import judge
from tests.unit.devkit.observed import A_SAMPLE, an_audit, an_observation, some_evidence


@pytest.mark.parametrize(
    ("drained", "not_observable", "holds"),
    [(True, set(), True), (False, set(), False), (True, {"sources"}, None), (False, {"sources"}, False)],
)
def test_what_is_broken_decides_before_what_nobody_can_judge(
    scenario: Scenario, drained: bool, not_observable: set[Observable], holds: bool | None
) -> None:
    observation = an_observation(drained=drained, not_observable=frozenset(not_observable))
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


LATE = EndByDeadline(deadline_s=90)
IDLE = A_SAMPLE.model_copy(update={"committed": 0, "outputs": 0, "errors": 0, "requests": 0})
LEFT = {"outputs": 140, "pending": 10, "errors": 4, "filtered": 7}


def expecting(scenario: Scenario, *fixed: dict[str, Any]) -> Scenario:
    expect = TypeAdapter(Expectations).validate_python({"incident": [{"restarts": 0}], "fixed": list(fixed)})
    return scenario.model_copy(update={"expect": expect})


class TestAFixedArmThatItsDeadlineEnded:
    """With events in the source: that it breaks nothing meanwhile does not show that it gets past them."""

    UNFINISHED = (
        "ended by its deadline of 90s with 10 of 161 events still in the source, and nothing that it expects says "
        "whether it may: write `drained` (or `drained: false`) there, or raise `until.deadline`"
    )

    def result(
        self, scenario: Scenario, arm: str = "fixed", *, expects: dict[str, Any] | None = None, **seen: Any
    ) -> ArmResult:
        played = expecting(scenario, {"restarts": 0}, *([expects] if expects else []))
        changes = {"end": LATE, "drained": False, "audit": an_audit(**LEFT)} | seen
        return PlayedArm.of(played, arm, an_observation(**changes)).result

    @pytest.mark.parametrize("expects", [None, {"audit": "clean"}])
    def test_is_not_known_to_hold(self, scenario: Scenario, expects: dict[str, Any] | None) -> None:
        result = self.result(scenario, expects=expects)
        assert (result.holds, result.unfinished) == (None, self.UNFINISHED)
        verdict = judge({"fixed": result}, {"fixed": (some_evidence(),)})
        assert (verdict.exit_code, verdict.short_of_time) == (INCONCLUSIVE, False)
        assert verdict.reasons[0] == f"fixed: {self.UNFINISHED}"

    @pytest.mark.parametrize(
        "seen",
        [
            {"end": EndByCondition(reached={"restarts": 1})},
            {"audit": an_audit(), "drained": True},
            # Committed, and one is deferred for long.
            {"audit": an_audit(outputs=149, deferred=1)},
            # Without offsets what is filtered looks as if it were pending; all that had to be emitted was.
            {"drained": True, "not_observable": frozenset({"offsets"})},
        ],
    )
    def test_holds_where_nothing_waits_or_it_ended_otherwise(self, scenario: Scenario, seen: dict[str, Any]) -> None:
        result = self.result(scenario, **seen)
        assert (result.holds, result.unfinished) == (True, "")

    @pytest.mark.parametrize(
        ("end", "inputs", "how"),
        [
            (EndByCondition(reached={"elapsed": 8.0}), 161, "elapsed 8s before it had taken any event"),
            (EndByCondition(reached={"log waiting": 1}), 161, "log waiting 1 before it had taken any event"),
            # Of traffic that begins when the program runs.
            (LATE, 0, "deadline of 90s before it had taken any event"),
        ],
    )
    def test_is_not_known_to_hold_that_had_taken_nothing(
        self, scenario: Scenario, end: ArmEnd, inputs: int, how: str
    ) -> None:
        seen: dict[str, Any] = {
            "end": end,
            "audit": an_audit(inputs=inputs, outputs=0, errors=0, filtered=0, pending=inputs),
        }
        result = self.result(scenario, **seen, last_sample=IDLE)
        assert result.holds is None
        assert result.unfinished.startswith(f"ended by its {how}, and nothing that it expects says")
        assert self.result(scenario, **seen).holds is (None if inputs and end is LATE else True)
        assert self.result(scenario, **seen, last_sample=IDLE, expects={"drained": False}).holds is True

    def test_a_fix_may_give_up_before_it_has_taken_anything(self, scenario: Scenario) -> None:
        end = EndByCondition(reached={"gave_up": 1})
        assert self.result(scenario, end=end, last_sample=IDLE).holds is True

    def test_holds_where_that_is_expected(self, scenario: Scenario) -> None:
        assert self.result(scenario, expects={"drained": False}).holds is True

    def test_is_refuted_all_the_same(self, scenario: Scenario) -> None:
        result = self.result(scenario, expects={"drained": True})
        assert (result.holds, result.unfinished) == (False, "")

    def test_an_incident_arm_may_stand_still(self, scenario: Scenario) -> None:
        assert self.result(scenario, "incident").holds is True
