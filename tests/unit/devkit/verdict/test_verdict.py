"""All that a verdict can depend on: whether each arm holds, and whether each fault fired in each arm."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.arm_observation import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.arm_role import ArmName
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, CauseResult
from devkit.verdict.verdict import Verdict, judge
from tests.unit.devkit.observed import an_audit, some_figures

FIRED, SILENT, NONE = (True,), (True, False), ()
"""Evidence of an arm, a truth value for each fault."""
DRAINED = EndByCondition(reached={"drained": 1})


def an_arm(
    *, holds: bool | None, caveats: tuple[str, ...] = (), cold: str = "", short: str = "", end: ArmEnd = DRAINED
) -> ArmResult:
    expectation = ExpectationResult(name="restarts", expected="at least 2", measured="0", holds=holds)
    return ArmResult(
        holds=holds,
        expectations=(expectation,),
        ended_by=end.text,
        end=end,
        restarts=0,
        replays=0,
        replayed_offsets=0,
        audit=an_audit(),
        figures=some_figures(),
        exceptions=(),
        caveats=caveats,
        cold=cold,
        short=short,
        duration_s=1.0,
    )


def evidence(fired: tuple[bool, ...]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            fault=f"fault {number}",
            fired=is_fired,
            requests=int(is_fired),
            completed=0,
            max_content_length_bytes=None,
            max_wire_bytes=0,
            max_real_bytes=0,
            max_duration_s=0,
        )
        for number, is_fired in enumerate(fired)
    )


@pytest.mark.parametrize(
    ("incident", "fixed", "incident_fired", "fixed_fired"),
    list(itertools.product((True, False), (True, False), (FIRED, SILENT, NONE), (FIRED, SILENT, NONE))),
)
def test_both_arms(
    incident: bool, fixed: bool, incident_fired: tuple[bool, ...], fixed_fired: tuple[bool, ...]
) -> None:
    verdict = judge(
        {"incident": an_arm(holds=incident), "fixed": an_arm(holds=fixed)},
        {"incident": evidence(incident_fired), "fixed": evidence(fixed_fired)},
    )
    if not (incident_fired == fixed_fired == FIRED):
        expected = "inconclusive", INCONCLUSIVE
    elif not incident:
        expected = "not reproduced", REFUTED
    elif not fixed:
        expected = "fix does not hold", REFUTED
    else:
        expected = "reproduced and fixed", REPRODUCED_AND_FIXED
    assert (verdict.outcome, verdict.exit_code) == expected
    assert bool(verdict.reasons) == (verdict.outcome != "reproduced and fixed")


@pytest.mark.parametrize("arm", ["incident", "fixed"])
@pytest.mark.parametrize(("holds", "fired"), list(itertools.product((True, False), (FIRED, SILENT, NONE))))
def test_a_single_arm_stands_for_itself(arm: ArmName, holds: bool, fired: tuple[bool, ...]) -> None:
    verdict = judge({arm: an_arm(holds=holds)}, {arm: evidence(fired)})
    if fired != FIRED:
        expected = "inconclusive", INCONCLUSIVE
    elif holds:
        expected = f"{arm} arm holds", REPRODUCED_AND_FIXED
    else:
        expected = f"{arm} arm does not hold", REFUTED
    assert (verdict.outcome, verdict.exit_code) == expected


def test_an_arm_without_any_evidence_is_unproven() -> None:
    verdict = judge({"incident": an_arm(holds=True), "fixed": an_arm(holds=True)}, {"incident": evidence(FIRED)})
    assert verdict.outcome == "inconclusive"
    assert verdict.reasons == ("fixed: no fault was injected, so nothing shows that the incident's cause was present",)


ACTED = {"acted": True}
IDLE = {"acted": False, "inaction": "no answer was 504"}


@pytest.mark.parametrize(
    ("incident", "fixed", "is_proven"),
    [(ACTED, ACTED, True), (ACTED, IDLE, True), (IDLE, ACTED, True), (IDLE, IDLE, False)],
)
def test_a_fault_that_acts_under_load_has_to_act_in_one_of_the_arms(
    incident: dict[str, Any], fixed: dict[str, Any], is_proven: bool
) -> None:
    (fired,) = evidence(FIRED)
    verdict = judge(
        {"incident": an_arm(holds=True), "fixed": an_arm(holds=True)},
        {"incident": [fired.model_copy(update=incident)], "fixed": [fired.model_copy(update=fixed)]},
    )
    assert (verdict.outcome == "reproduced and fixed") is is_proven
    if not is_proven:
        assert verdict.outcome == "inconclusive"
        assert verdict.reasons == ("incident: fault 'fault 0' matched 1 request and never acted: no answer was 504",)


@pytest.mark.parametrize(("arm", "outcome"), [("incident", "inconclusive"), ("fixed", "fixed arm holds")])
def test_by_itself_only_the_incident_arm_has_to_show_it(arm: ArmName, outcome: str) -> None:
    (fired,) = evidence(FIRED)
    assert judge({arm: an_arm(holds=True)}, {arm: [fired.model_copy(update=IDLE)]}).outcome == outcome


@pytest.mark.parametrize(("incident", "outcome"), [(True, "reproduced and fixed"), (False, "inconclusive")])
def test_a_fault_for_second_attempts_need_not_meet_any_of_a_fixed_client(incident: bool, outcome: str) -> None:
    arms: dict[ArmName, ArmResult] = {"incident": an_arm(holds=True), "fixed": an_arm(holds=True)}
    fired, silent = (one.model_copy(update={"by_client": True}) for one in evidence((True, False)))
    found = {"incident": [fired if incident else silent], "fixed": [silent]}
    assert judge(arms, found).outcome == outcome


def test_a_fault_that_met_nothing_is_told_once() -> None:
    (silent,) = evidence((False,))
    verdict = judge({"incident": an_arm(holds=True)}, {"incident": [silent.model_copy(update=IDLE)]})
    assert verdict.reasons == ("incident: fault 'fault 0' matched no request",)


def test_reasons_name_each_fault_that_never_fired() -> None:
    arms: dict[ArmName, ArmResult] = {"incident": an_arm(holds=False), "fixed": an_arm(holds=True)}
    verdict = judge(arms, {"incident": evidence((True, False)), "fixed": evidence((False, True))})
    assert verdict.reasons == (
        "fixed: fault 'fault 0' matched no request",
        "incident: fault 'fault 1' matched no request",
        "incident: restarts: expected at least 2, measured 0",
    )


def test_reasons_name_each_expectation_that_does_not_hold() -> None:
    arms: dict[ArmName, ArmResult] = {"incident": an_arm(holds=False), "fixed": an_arm(holds=False)}
    verdict = judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})
    assert verdict.outcome == "not reproduced"
    assert verdict.reasons == (
        "incident: restarts: expected at least 2, measured 0",
        "fixed: restarts: expected at least 2, measured 0",
    )


@pytest.mark.parametrize(
    ("incident", "fixed", "outcome"),
    [
        (None, True, "inconclusive"),
        (None, False, "inconclusive"),
        (None, None, "inconclusive"),
        (True, None, "inconclusive"),
        (False, None, "not reproduced"),
    ],
)
def test_what_nobody_can_judge_counts_unless_it_is_refuted_before(
    incident: bool | None, fixed: bool | None, outcome: str
) -> None:
    arms: dict[ArmName, ArmResult] = {"fixed": an_arm(holds=fixed), "incident": an_arm(holds=incident)}
    verdict = judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})
    assert verdict.outcome == outcome
    assert any("restarts: expected at least 2, measured 0" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("arm", ["incident", "fixed"])
def test_a_single_arm_that_nobody_can_judge(arm: ArmName) -> None:
    assert judge({arm: an_arm(holds=None)}, {arm: evidence(FIRED)}).outcome == "inconclusive"


@pytest.mark.parametrize("holds", [True, False, None])
def test_an_arm_that_somebody_did_something_to_shows_nothing(holds: bool | None) -> None:
    arms: dict[ArmName, ArmResult] = {
        "incident": an_arm(holds=True),
        "fixed": an_arm(holds=holds, caveats=("debugged",)),
    }
    verdict = judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})
    assert (verdict.outcome, verdict.reasons) == ("inconclusive", ("fixed: debugged",))


class TestAnArmThatBeganCold:
    """Its warm-up was broken off, so it shows nothing of the scenario but what is excused by nothing."""

    COLD = "it began cold, as its warm-up was broken off: the process ended in it"

    def verdict(self, **fixed: Any) -> Verdict:
        arms: dict[ArmName, ArmResult] = {"incident": an_arm(holds=True), "fixed": an_arm(cold=self.COLD, **fixed)}
        return judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})

    @pytest.mark.parametrize("holds", [True, False, None])
    def test_is_inconclusive(self, holds: bool | None) -> None:
        found = self.verdict(holds=holds)
        assert (found.outcome, found.reasons) == ("inconclusive", (f"fixed: {self.COLD}",))
        assert not found.short_of_time, "with more time it would do the same"

    def test_on_a_machine_that_was_short_of_time_is_played_again(self) -> None:
        assert self.verdict(holds=None, short="the machine was short of time").short_of_time

    def test_is_refuted_by_a_lost_event(self) -> None:
        arm = an_arm(holds=False, cold=self.COLD)
        lost = arm.expectations[0].model_copy(update={"decisive": True})
        arms: dict[ArmName, ArmResult] = {
            "incident": an_arm(holds=True),
            "fixed": arm.model_copy(update={"expectations": (lost,)}),
        }
        found = judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})
        assert found.outcome == "fix does not hold"


class TestAnArmThatMetItsDeadline:
    """It says so beside whatever else is wrong; an arm that holds all the same says nothing."""

    LATE = EndByDeadline(deadline_s=90)
    REASON = "fixed: ended by its deadline of 90s"

    def reasons(self, *, holds: bool | None, fired: tuple[bool, ...] = FIRED, **fixed: Any) -> tuple[str, ...]:
        arms: dict[ArmName, ArmResult] = {
            "incident": an_arm(holds=True),
            "fixed": an_arm(holds=holds, end=self.LATE, **fixed),
        }
        return judge(arms, {"incident": evidence(FIRED), "fixed": evidence(fired)}).reasons

    def test_when_it_does_not_hold(self) -> None:
        assert self.reasons(holds=False) == ("fixed: restarts: expected at least 2, measured 0", self.REASON)

    def test_when_nobody_can_judge_it(self) -> None:
        assert self.reasons(holds=None) == ("fixed: restarts: expected at least 2, measured 0", self.REASON)

    def test_when_its_fault_never_fired(self) -> None:
        assert self.reasons(holds=False, fired=(False,)) == (
            "fixed: fault 'fault 0' matched no request",
            "fixed: restarts: expected at least 2, measured 0",
            self.REASON,
        )

    def test_when_somebody_did_something_to_it(self) -> None:
        assert self.reasons(holds=False, caveats=("debugged",)) == ("fixed: debugged", self.REASON)

    def test_when_it_holds(self) -> None:
        assert self.reasons(holds=True) == ()

    def test_another_end_is_none(self) -> None:
        arms: dict[ArmName, ArmResult] = {"incident": an_arm(holds=True), "fixed": an_arm(holds=False)}
        reasons = judge(arms, {"incident": evidence(FIRED), "fixed": evidence(FIRED)}).reasons
        assert reasons == ("fixed: restarts: expected at least 2, measured 0",)


def of_timeline(*, fired: bool = True, acted: bool = True) -> TimelineEvidence:
    did = "it answered nothing" if acted else "it answered all the same"
    return TimelineEvidence(fault="pause", fired=fired, asked="pause: {part: kafka}, at 1s", acted=acted, did=did)


class TestTimeline:
    BOTH: Mapping[ArmName, ArmResult] = {"incident": an_arm(holds=True), "fixed": an_arm(holds=True)}

    def test_a_scenario_with_faults_of_the_timeline_alone_is_judged(self) -> None:
        found = judge(self.BOTH, {"incident": (of_timeline(),), "fixed": (of_timeline(),)})
        assert found.outcome == "reproduced and fixed"

    @pytest.mark.parametrize("arm", ["incident", "fixed"])
    @pytest.mark.parametrize(
        ("broken", "message"),
        [
            (of_timeline(fired=False), "fault 'pause' never began (pause: {part: kafka}, at 1s): it answered nothing"),
            (of_timeline(acted=False), "fault 'pause' was not seen to act: it answered all the same"),
        ],
    )
    def test_one_that_did_not_act_in_any_of_its_arms_makes_it_inconclusive(
        self, arm: ArmName, broken: TimelineEvidence, message: str
    ) -> None:
        both: dict[ArmName, tuple[AnyEvidence, ...]] = {"incident": (of_timeline(),), "fixed": (of_timeline(),)}
        found = judge(self.BOTH, both | {arm: (broken,)})
        assert (found.outcome, found.reasons) == ("inconclusive", (f"{arm}: {message}",))

    def test_one_that_never_began_says_how_far_the_arm_came_and_what_was_broken_all_the_same(self) -> None:
        late = of_timeline(fired=False).model_copy(update={"did": "committed came to 0 of 300"})
        found = judge({**self.BOTH, "fixed": an_arm(holds=False)}, {"incident": (of_timeline(),), "fixed": (late,)})
        assert (found.outcome, found.exit_code) == ("inconclusive", INCONCLUSIVE)
        assert found.reasons == (
            "fixed: fault 'pause' never began (pause: {part: kafka}, at 1s): committed came to 0 of 300",
            "fixed: restarts: expected at least 2, measured 0",
        )

    @pytest.mark.parametrize("arm", ["incident", "fixed"])
    @pytest.mark.parametrize("cause", [(), (CauseResult(cause="fault 'pause'", shown=True, did="it did"),)])
    def test_one_that_made_what_no_record_reached_makes_it_inconclusive(
        self, arm: ArmName, cause: tuple[CauseResult, ...]
    ) -> None:
        both: dict[ArmName, tuple[AnyEvidence, ...]] = {"incident": (of_timeline(),), "fixed": (of_timeline(),)}
        grown = of_timeline().model_copy(update={"unreached": "partition 2 of topic t"})
        found = judge(self.BOTH, both | {arm: (grown,)}, cause=cause)
        text = "acted, and no traffic reached what it made: no record came to partition 2 of topic t"
        assert (found.outcome, found.reasons) == ("inconclusive", (f"{arm}: fault 'pause' {text}",))

    def test_one_for_the_incident_arm_alone_is_what_the_arms_differ_in(self) -> None:
        assert judge(self.BOTH, {"incident": (of_timeline(),), "fixed": ()}).outcome == "reproduced and fixed"

    def test_one_for_the_fixed_arm_alone_leaves_an_incident_without_a_cause(self) -> None:
        assert judge(self.BOTH, {"incident": (), "fixed": (of_timeline(),)}).outcome == "inconclusive"

    def test_a_fixed_arm_by_itself_needs_a_fault_of_its_own(self) -> None:
        assert judge({"fixed": an_arm(holds=True)}, {"fixed": ()}).outcome == "inconclusive"

    def test_a_rule_of_the_mock_beside_it_must_be_met_in_both(self) -> None:
        found = judge(self.BOTH, {"incident": (of_timeline(), *evidence(FIRED)), "fixed": ()})
        assert found.outcome == "inconclusive"


class TestShortOfTime:
    SHORT = "the machine was short of time: 8.0 times slower than when it is free"

    def an_arm(self, *, holds: bool | None = None, short: str = SHORT, lost: bool = False) -> ArmResult:
        items = [
            ExpectationResult(
                name="drained", expected="true", measured="9 of 10", holds=holds, depends_on_time=True, short=short
            )
        ]
        if lost:
            items.append(
                ExpectationResult(name="audit", expected="clean", measured="lost 2", holds=False, decisive=True)
            )
        return an_arm(holds=False if lost else holds).model_copy(update={"expectations": tuple(items)})

    def judge(self, incident: ArmResult, fixed: ArmResult) -> Verdict:
        return judge({"incident": incident, "fixed": fixed}, {"incident": evidence(FIRED), "fixed": evidence(FIRED)})

    @pytest.mark.parametrize("arm", ["incident", "fixed"])
    def test_an_arm_that_was_short_is_inconclusive_and_says_why(self, arm: ArmName) -> None:
        arms = {"incident": an_arm(holds=True), "fixed": an_arm(holds=True)} | {arm: self.an_arm()}
        verdict = self.judge(arms["incident"], arms["fixed"])
        assert (verdict.exit_code, verdict.short_of_time) == (INCONCLUSIVE, True)
        assert f"{arm}: drained: expected true, measured 9 of 10, which says nothing: {self.SHORT}" in verdict.reasons

    def test_a_fix_that_lost_events_does_not_hold_whatever_the_incident_showed(self) -> None:
        verdict = self.judge(self.an_arm(), self.an_arm(lost=True))
        assert (verdict.outcome, verdict.exit_code) == ("fix does not hold", REFUTED)

    def test_an_incident_that_is_refuted_stays_so(self) -> None:
        verdict = self.judge(an_arm(holds=False), self.an_arm())
        assert (verdict.outcome, verdict.short_of_time) == ("not reproduced", False)

    def test_what_cannot_be_observed_is_not_for_want_of_time(self) -> None:
        verdict = self.judge(an_arm(holds=True), an_arm(holds=None))
        assert (verdict.exit_code, verdict.short_of_time) == (INCONCLUSIVE, False)

    def test_an_end_that_the_machine_made_is_said(self) -> None:
        ended = an_arm(holds=True).model_copy(update={"holds": None, "short": "ended by its deadline, and short"})
        verdict = self.judge(an_arm(holds=True), ended)
        assert verdict.reasons[0] == "fixed: ended by its deadline, and short"
        assert verdict.short_of_time


def test_arms_that_hold_and_are_alike_show_nothing() -> None:
    both = {"incident": an_arm(holds=True), "fixed": an_arm(holds=True)}
    fired = {"incident": evidence(FIRED), "fixed": evidence(FIRED)}
    verdict = judge(both, fired, unproven_fix=("nothing tells them apart",))
    assert (verdict.outcome, verdict.reasons) == ("inconclusive", ("nothing tells them apart",))
    assert not verdict.short_of_time, "another play would show nothing either"


def test_that_arms_are_alike_excuses_no_broken_expectation() -> None:
    arms = {"incident": an_arm(holds=True), "fixed": an_arm(holds=False)}
    fired = {"incident": evidence(FIRED), "fixed": evidence(FIRED)}
    assert judge(arms, fired, unproven_fix=("nothing tells them apart",)).outcome == "fix does not hold"
