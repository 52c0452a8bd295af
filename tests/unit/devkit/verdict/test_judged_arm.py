"""From what was observed of an arm to its result."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from devkit.errors import INCONCLUSIVE
from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.arm_observation import ComparedArm, TimelineEvidence
from devkit.observe.logs.logs import LoggedException
from devkit.observe.observable import Observable
from devkit.observe.samples.sample import Sample
from devkit.report.result import ArmResult
from devkit.scenario.arms import Expectations
from devkit.scenario.model import Scenario
from devkit.verdict.judgement import JudgedArm
from devkit.verdict.verdict import judge
from tests.unit.devkit.observed import A_SAMPLE, an_audit, an_observation, some_evidence, some_latencies


@pytest.mark.parametrize(
    ("drained", "not_observable", "holds"),
    [(True, set(), True), (False, set(), False), (True, {"sources"}, None), (False, {"sources"}, False)],
)
def test_what_is_broken_decides_before_what_nobody_can_judge(
    scenario: Scenario, drained: bool, not_observable: set[Observable], holds: bool | None
) -> None:
    observation = an_observation(drained=drained, not_observable=frozenset(not_observable))
    assert JudgedArm.of(scenario, "fixed", observation).result.holds is holds


def test_each_arm_has_expectations_of_its_own(scenario: Scenario) -> None:
    named = {
        arm: [one.name for one in JudgedArm.of(scenario, arm, an_observation()).result.expectations]
        for arm in ("incident", "fixed")
    }
    assert named == {"incident": ["restarts", "exception"], "fixed": ["drained", "audit"]}


def test_what_was_seen_is_told_as_it_was(scenario: Scenario) -> None:
    loop = LoggedException(2, "RecordTooLargeException", "The message is 23048294 bytes")
    silent = some_evidence(fired=False)
    observation = an_observation(exceptions=(loop,), evidence=(silent,), duration_s=1.23456)
    played = JudgedArm.of(scenario, "fixed", observation)
    assert played.evidence == (silent,)
    assert played.result.exceptions == ("process 2: RecordTooLargeException: The message is 23048294 bytes",)
    assert played.result.duration_s == 1.235
    assert played.result.programs == ()  # which are told where there are several


LATE = EndByDeadline(deadline_s=90)
IDLE = A_SAMPLE.model_copy(update={"committed": 0, "outputs": 0, "errors": 0, "requests": 0})
LEFT = {"outputs": 140, "pending": 10, "errors": 4, "filtered": 7}


def expecting(scenario: Scenario, *fixed: dict[str, Any]) -> Scenario:
    expect = TypeAdapter(Expectations).validate_python({"incident": [{"restarts": 0}], "fixed": list(fixed)})
    return scenario.model_copy(update={"expect": expect})


def course(*looks: tuple[float, int, int]) -> tuple[Sample, ...]:
    """Looks at an arm: seconds, source offsets that are committed, and the source's end."""
    return tuple(
        A_SAMPLE.model_copy(update={"at_s": at_s, "committed": committed, "source_end": end})
        for at_s, committed, end in looks
    )


class TestAFixedArmThatATimeEnded:
    """With events in the source: that it breaks nothing meanwhile does not show that it gets past them."""

    UNFINISHED = (
        "ended by its deadline of 90s with 10 of 161 events still in the source, and nothing that it expects "
        "bounds its progress: write `drained` (or `drained: false`), `rate` or `lag` there, or raise `until.deadline`"
    )

    def result(
        self, scenario: Scenario, arm: str = "fixed", *, expects: dict[str, Any] | None = None, **seen: Any
    ) -> ArmResult:
        played = expecting(scenario, {"restarts": 0}, *([expects] if expects else []))
        changes = {"end": LATE, "drained": False, "audit": an_audit(**LEFT)} | seen
        return JudgedArm.of(played, arm, an_observation(**changes)).result

    @pytest.mark.parametrize("expects", [None, {"audit": "clean"}])
    def test_is_not_known_to_hold(self, scenario: Scenario, expects: dict[str, Any] | None) -> None:
        result = self.result(scenario, expects=expects)
        assert (result.holds, result.unproven) == (None, self.UNFINISHED)
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
        assert (result.holds, result.unproven) == (True, "")

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
        assert result.unproven.startswith(f"ended by its {how}, and nothing that it expects bounds")
        assert self.result(scenario, **seen).holds is (None if inputs else True)
        assert self.result(scenario, **seen, last_sample=IDLE, expects={"drained": False}).holds is True

    def test_a_fix_may_give_up_before_it_has_taken_anything(self, scenario: Scenario) -> None:
        end = EndByCondition(reached={"gave_up": 1})
        assert self.result(scenario, end=end, last_sample=IDLE).holds is True

    @pytest.mark.parametrize(
        ("expects", "holds"),
        [
            ({"drained": False}, True),
            ({"rate": {"at_least": "1/s"}}, True),
            ({"rate": {"at_most": "90/s"}}, None),
            ({"lag": {"at_most": 50}}, True),
            ({"lag": {"of": "slope", "at_most": 0}}, True),
            ({"lag": {"at_least": 1}}, None),
            ({"lag": {"during": "calm", "at_most": 50}}, None),
            # All arms have none at some time, and one page or partition says nothing of the others.
            ({"lag": {"of": "lowest", "at_most": 50}}, None),
            ({"lag": {"partition": 0, "at_most": 50}}, None),
            ({"batch_time": {"at_most": "6s"}}, None),
        ],
    )
    def test_holds_where_what_it_expects_bounds_its_progress(
        self, scenario: Scenario, expects: dict[str, Any], holds: bool | None
    ) -> None:
        latencies = some_latencies(0.4, 0.5)
        samples = course(*((at_s, 130, 140) for at_s in range(6)))
        lags = tuple(one.model_copy(update={"lags": {"t/0": 10}}) for one in samples)
        batches = ((1.0, 1.5),)
        seen = {"latencies": latencies, "samples": lags, "batches": batches}
        assert self.result(scenario, expects=expects, **seen).holds is holds

    @pytest.mark.parametrize(
        ("first", "second", "bound", "holds"),
        [
            ("fixed", "incident", "at_least", True),
            ("incident", "fixed", "at_most", True),
            ("fixed", "incident", "at_most", None),
            ("incident", "fixed", "at_least", None),
        ],
    )
    def test_holds_where_its_rate_is_bounded_by_that_of_another_arm(
        self, scenario: Scenario, first: str, second: str, bound: str, holds: bool | None
    ) -> None:
        compare = {"compare": {"rate": {"arms": [first, second], bound: 1}}}
        arms = dict.fromkeys(("incident", "fixed"), ComparedArm(an_observation()))
        assert self.result(scenario, expects=compare, arms=arms).holds is holds

    TAKEN_ONE_BY_ONE = course((0, 0, 20), (1, 1, 80), (2, 2, 162), *((at, at + 1, 162) for at in range(3, 16)))
    KEEPS_UP = course(*((at, max(0, at - 2) * 10, at * 10) for at in range(16)))
    FALLS_BEHIND = course(*((at, at * 4, at * 10) for at in range(16)))
    STALLS = course((0, 0, 10), (1, 10, 20), (2, 20, 30), *((at, 20, at * 10 + 10) for at in range(3, 16)))
    COMMITS_ONCE = course((0, 0, 10), (5, 10, 60), (15, 10, 150))
    ONE_PARTITION_WITHOUT_COMMIT = tuple(
        one.model_copy(update={"source_ends": {"t/0": 3, "t/1": one.source_end - 3}, "lags": {"t/0": 3, "t/1": 0}})
        for one in course(*((at, at * 10, at * 10 + 3) for at in range(1, 16)))
    )
    WAITS_FOR_TRAFFIC = course((0, 0, 5), (1, 2, 5), (2, 5, 5), *((at, 5, 5) for at in range(3, 15)), (15, 5, 9))

    @pytest.mark.parametrize("end", [LATE, EndByCondition(reached={"running_for": 15.0})])
    @pytest.mark.parametrize(
        ("samples", "seen", "has_kept_up"),
        [
            (TAKEN_ONE_BY_ONE, {}, False),
            (KEEPS_UP, {}, True),
            (FALLS_BEHIND, {}, False),
            (STALLS, {}, False),
            (COMMITS_ONCE, {}, False),
            (ONE_PARTITION_WITHOUT_COMMIT, {}, False),
            (WAITS_FOR_TRAFFIC, {}, True),
            (KEEPS_UP, {"not_observable": frozenset({"offsets"})}, False),
            (KEEPS_UP, {"audit": an_audit(outputs=3, errors=0, filtered=0, deferred=138, pending=20)}, False),
        ],
    )
    def test_holds_where_it_kept_up_with_its_traffic(
        self, scenario: Scenario, end: ArmEnd, samples: tuple[Sample, ...], seen: dict[str, Any], has_kept_up: bool
    ) -> None:
        result = self.result(scenario, end=end, samples=samples, last_sample=samples[-1], **seen)
        assert result.holds is (True if has_kept_up else None)
        assert bool(result.unproven) is not has_kept_up

    def test_is_refuted_all_the_same(self, scenario: Scenario) -> None:
        result = self.result(scenario, expects={"drained": True})
        assert (result.holds, result.unproven) == (False, "")

    def test_an_incident_arm_may_stand_still(self, scenario: Scenario) -> None:
        assert self.result(scenario, "incident").holds is True


EMPTIED = TimelineEvidence(fault="x", fired=True, asked="", acted=True, did="", hides="topic t was emptied")


class TestAFixedArmThatLostEvents:
    """A program that does no work breaks few expectations."""

    UNPROVEN = (
        "10 of 161 events were lost, and nothing that it expects says how many may be: write `audit: { lost: 0 }` "
        "there, or the bound that the fix keeps"
    )
    LOST = an_audit(outputs=140, lost=10, errors=4, filtered=7)

    @pytest.mark.parametrize(
        ("expects", "seen", "holds"),
        [
            ({"drained": True}, {}, None),
            ({"audit": {"duplicated": 0}}, {}, None),
            ({"audit": {"lost": {"at_most": 10}}}, {}, True),
            ({"audit": {"lost": 0}}, {}, False),
            ({"audit": "clean"}, {}, False),
            ({"drained": True}, {"audit": an_audit()}, True),
            # Nothing says which events the records are of, or which must come.
            ({"drained": True}, {"not_observable": frozenset({"sources"})}, True),
            ({"restarts": 0}, {"not_observable": frozenset({"offsets"}), "drained": False}, True),
            ({"drained": True}, {"audit": LOST.model_copy(update={"unaudited": True})}, True),
            ({"drained": True}, {"evidence": (EMPTIED,)}, True),
        ],
    )
    def test_holds_if_an_expectation_allows_it(
        self, scenario: Scenario, expects: dict[str, Any], seen: dict[str, Any], holds: bool | None
    ) -> None:
        observation = an_observation(**{"audit": self.LOST} | seen)
        result = JudgedArm.of(expecting(scenario, expects), "fixed", observation).result
        assert (result.holds, result.unproven) == (holds, self.UNPROVEN if holds is None else "")

    def test_an_incident_arm_may_lose_them(self, scenario: Scenario) -> None:
        observation = an_observation(audit=self.LOST)
        assert JudgedArm.of(expecting(scenario, {"drained": True}), "incident", observation).result.holds is True
