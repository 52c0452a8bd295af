"""All that a verdict can depend on: whether each arm holds, and whether each fault fired in each arm."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.arm_observation import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.arm_role import ArmName
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, CauseResult
from devkit.verdict.verdict import Verdict, judge
from tests.unit.devkit.observed import an_audit, some_evidence, some_figures

Seen = Mapping[ArmName, Sequence[AnyEvidence]]
Arm = ArmResult | bool | None
"""A result, or whether the arm holds."""
SHOWN, UNKNOWN = "reproduced and fixed", "inconclusive"
DRAINED = EndByCondition(reached={"drained": 1})


def an_arm(*, holds: bool | None, end: ArmEnd = DRAINED, **changes: Any) -> ArmResult:
    expectation = ExpectationResult(name="restarts", expected="at least 2", measured="0", holds=holds)
    values: dict[str, Any] = {"expectations": (expectation,), "ended_by": end.text, "end": end, "duration_s": 1.0}
    counts = {"restarts": 0, "replays": 0, "replayed_offsets": 0}
    values |= counts | {"audit": an_audit(), "figures": some_figures(), "exceptions": ()} | changes
    return ArmResult(holds=holds, **values)


def evidence(*fired: bool, **changes: Any) -> tuple[Evidence, ...]:
    """Of the mock's faults, whether each fired."""
    return tuple(
        some_evidence(fault=f"fault {number}", fired=it, requests=int(it), completed=0, **changes)
        for number, it in enumerate(fired)
    )


def of_timeline(*, fired: bool = True, acted: bool = True, **changes: Any) -> tuple[TimelineEvidence]:
    did = "it answered nothing" if acted else "it answered all the same"
    values: dict[str, Any] = {"fired": fired, "acted": acted, "did": did} | changes
    return (TimelineEvidence(fault="pause", asked="pause: {part: kafka}, at 1s", **values),)


def both(incident: Sequence[AnyEvidence], fixed: Sequence[AnyEvidence]) -> Seen:
    return {"incident": incident, "fixed": fixed}


FIRED, PAUSED = evidence(True), of_timeline()
FIRED_IN_BOTH = both(FIRED, FIRED)


def judged(incident: Arm, fixed: Arm, seen: Seen = FIRED_IN_BOTH, **more: Any) -> Verdict:
    arms: dict[ArmName, Arm] = {"incident": incident, "fixed": fixed}
    return judge({arm: it if isinstance(it, ArmResult) else an_arm(holds=it) for arm, it in arms.items()}, seen, **more)


OF_MOCK = {"fired": FIRED, "one silent": evidence(True, False), "none": ()}


@pytest.mark.parametrize(("incident", "fixed"), list(itertools.product((True, False), repeat=2)))
@pytest.mark.parametrize(("of_incident", "of_fixed"), list(itertools.product(OF_MOCK, repeat=2)))
def test_both_arms(incident: bool, fixed: bool, of_incident: str, of_fixed: str) -> None:
    verdict = judged(incident, fixed, both(OF_MOCK[of_incident], OF_MOCK[of_fixed]))
    if not (of_incident == of_fixed == "fired"):
        expected = UNKNOWN, INCONCLUSIVE
    elif not incident:
        expected = "not reproduced", REFUTED
    elif not fixed:
        expected = "fix does not hold", REFUTED
    else:
        expected = SHOWN, REPRODUCED_AND_FIXED
    assert (verdict.outcome, verdict.exit_code) == expected
    assert bool(verdict.reasons) == (verdict.outcome != SHOWN)


@pytest.mark.parametrize("arm", ["incident", "fixed"])
@pytest.mark.parametrize(("holds", "fired"), list(itertools.product((True, False, None), OF_MOCK)))
def test_a_single_arm_stands_for_itself(arm: ArmName, holds: bool | None, fired: str) -> None:
    verdict = judge({arm: an_arm(holds=holds)}, {arm: OF_MOCK[fired]})
    if fired != "fired" or holds is None:
        expected = UNKNOWN, INCONCLUSIVE
    elif holds:
        expected = f"{arm} arm holds", REPRODUCED_AND_FIXED
    else:
        expected = f"{arm} arm does not hold", REFUTED
    assert (verdict.outcome, verdict.exit_code) == expected


ACTED, IDLE = evidence(True, acted=True), evidence(True, acted=False, inaction="no answer was 504")
OF_CLIENT, UNMET = evidence(True, by_client=True), evidence(False, by_client=True)


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        pytest.param(both(ACTED, ACTED), SHOWN, id="a fault under load acted in both arms"),
        pytest.param(both(ACTED, IDLE), SHOWN, id="a fault under load acted in the incident arm"),
        pytest.param(both(IDLE, ACTED), SHOWN, id="a fault under load acted in the fixed arm"),
        pytest.param({"incident": IDLE}, UNKNOWN, id="by itself the incident arm has to show it"),
        pytest.param({"fixed": IDLE}, "fixed arm holds", id="by itself the fixed arm need not show it"),
        pytest.param(both(OF_CLIENT, UNMET), SHOWN, id="a fault of second attempts need not meet a fixed client"),
        pytest.param(both(UNMET, UNMET), UNKNOWN, id="a fault of second attempts has to meet one of the arms"),
        pytest.param(both(PAUSED, PAUSED), SHOWN, id="faults of the timeline alone are judged"),
        pytest.param(both(PAUSED, ()), SHOWN, id="one of the incident arm is what the arms differ in"),
        pytest.param(both((), PAUSED), UNKNOWN, id="one of the fixed arm leaves the incident without a cause"),
        pytest.param({"fixed": ()}, UNKNOWN, id="a fixed arm by itself needs a fault of its own"),
        pytest.param(both((*PAUSED, *FIRED), ()), UNKNOWN, id="a rule of the mock must be met in both"),
    ],
)
def test_of_arms_that_hold_faults_decide(seen: Seen, outcome: str) -> None:
    assert judge({arm: an_arm(holds=True) for arm in seen}, seen).outcome == outcome


BROKEN = "restarts: expected at least 2, measured 0"
BOTH_BROKEN = (f"incident: {BROKEN}", f"fixed: {BROKEN}")
NO_FAULT = "fixed: no fault was injected, so nothing shows that the incident's cause was present"
NEVER_ACTED = "incident: fault 'fault 0' matched 1 request and never acted: no answer was 504"
LATE, AT_DEADLINE = EndByDeadline(deadline_s=90), "fixed: ended by its deadline of 90s"
LATE_AND_BROKEN = (f"fixed: {BROKEN}", AT_DEADLINE)
COLD = "it began cold, as its warm-up was broken off: the process ended in it"
SLOW = "ended by its deadline, and short"


@pytest.mark.parametrize(
    ("incident", "fixed", "outcome", "reasons"),
    [
        pytest.param(False, False, "not reproduced", BOTH_BROKEN, id="each expectation that does not hold"),
        pytest.param(None, True, UNKNOWN, (f"incident: {BROKEN}",), id="an incident arm that cannot be judged"),
        pytest.param(None, False, UNKNOWN, BOTH_BROKEN, id="an incident arm that cannot be judged, and no fix"),
        pytest.param(None, None, UNKNOWN, BOTH_BROKEN, id="two arms that cannot be judged"),
        pytest.param(True, None, UNKNOWN, (f"fixed: {BROKEN}",), id="a fixed arm that cannot be judged"),
        pytest.param(False, None, "not reproduced", BOTH_BROKEN, id="refuted before it"),
        *(
            pytest.param(True, an_arm(holds=holds, caveats=("debugged",)), UNKNOWN, ("fixed: debugged",), id=name)
            for holds, name in (
                (True, "it was debugged"),
                (False, "it was debugged and broke"),
                (None, "no judging it"),
            )
        ),
        *(
            pytest.param(True, an_arm(holds=holds, cold=COLD), UNKNOWN, (f"fixed: {COLD}",), id=f"cold, holds {holds}")
            for holds in (True, False, None)
        ),
        pytest.param(True, an_arm(holds=True, end=LATE), SHOWN, (), id="the deadline, and it holds"),
        pytest.param(True, an_arm(holds=False, end=LATE), "fix does not hold", LATE_AND_BROKEN, id="the deadline"),
        pytest.param(True, an_arm(holds=None, end=LATE), UNKNOWN, LATE_AND_BROKEN, id="no judging it at the deadline"),
        pytest.param(True, False, "fix does not hold", (f"fixed: {BROKEN}",), id="another end than the deadline"),
        pytest.param(
            True,
            an_arm(holds=False, end=LATE, caveats=("debugged",)),
            UNKNOWN,
            ("fixed: debugged", AT_DEADLINE),
            id="debugged until the deadline",
        ),
    ],
)
def test_reasons_of_arms(incident: Arm, fixed: Arm, outcome: str, reasons: tuple[str, ...]) -> None:
    verdict = judged(incident, fixed)
    assert (verdict.outcome, verdict.reasons) == (outcome, reasons)


CAME_TO_0 = of_timeline(fired=False, did="committed came to 0 of 300")


@pytest.mark.parametrize(
    ("incident", "fixed", "seen", "reasons"),
    [
        pytest.param(True, True, {"incident": FIRED}, (NO_FAULT,), id="an arm without evidence"),
        pytest.param(True, True, both(IDLE, IDLE), (NEVER_ACTED,), id="a fault that acts under load never acted"),
        pytest.param(
            False,
            True,
            both(evidence(True, False), evidence(False, True)),
            (
                "fixed: fault 'fault 0' matched no request",
                "incident: fault 'fault 1' matched no request",
                f"incident: {BROKEN}",
            ),
            id="each fault that never fired",
        ),
        pytest.param(
            True,
            an_arm(holds=False, end=LATE),
            both(FIRED, evidence(False)),
            ("fixed: fault 'fault 0' matched no request", *LATE_AND_BROKEN),
            id="a fault that did not fire until the deadline",
        ),
        pytest.param(
            True,
            False,
            both(PAUSED, CAME_TO_0),
            (
                "fixed: fault 'pause' never began (pause: {part: kafka}, at 1s): committed came to 0 of 300",
                f"fixed: {BROKEN}",
            ),
            id="how far an arm came in which a fault never began, and what was broken",
        ),
    ],
)
def test_reasons_of_faults(incident: Arm, fixed: Arm, seen: Seen, reasons: tuple[str, ...]) -> None:
    verdict = judged(incident, fixed, seen)
    assert (verdict.outcome, verdict.exit_code, verdict.reasons) == (UNKNOWN, INCONCLUSIVE, reasons)


def test_a_fault_that_met_nothing_is_told_once() -> None:
    silent = evidence(False, acted=False, inaction="no answer was 504")
    verdict = judge({"incident": an_arm(holds=True)}, {"incident": silent})
    assert verdict.reasons == ("incident: fault 'fault 0' matched no request",)


@pytest.mark.parametrize("arm", ["incident", "fixed"])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (of_timeline(fired=False), "never began (pause: {part: kafka}, at 1s): it answered nothing"),
        (of_timeline(acted=False), "was not seen to act: it answered all the same"),
        (
            of_timeline(unreached="partition 2 of topic t"),
            "acted, and no traffic reached what it made: no record came to partition 2 of topic t",
        ),
    ],
    ids=["never began", "did not act", "made what no record reached"],
)
def test_a_fault_of_the_timeline_has_to_act_in_each_of_its_arms(
    arm: ArmName, broken: tuple[TimelineEvidence], message: str
) -> None:
    verdict = judged(True, True, {**both(PAUSED, PAUSED), arm: broken})
    assert (verdict.outcome, verdict.reasons) == (UNKNOWN, (f"{arm}: fault 'pause' {message}",))


@pytest.mark.parametrize("arm", ["incident", "fixed"])
def test_what_no_record_reached_counts_beside_a_cause_that_was_shown(arm: ArmName) -> None:
    cause = CauseResult(cause="fault 'pause'", shown=True, did="it did")
    seen = {**both(PAUSED, PAUSED), arm: of_timeline(unreached="partition 2 of topic t")}
    text = "acted, and no traffic reached what it made: no record came to partition 2 of topic t"
    verdict = judged(True, True, seen, cause=(cause,))
    assert (verdict.outcome, verdict.reasons) == (UNKNOWN, (f"{arm}: fault 'pause' {text}",))


SHORT = "the machine was short of time: 8.0 times slower than when it is free"
DRAINS = ExpectationResult(name="drained", expected="true", measured="9 of 10", holds=None)
OF_TIME = DRAINS.model_copy(update={"depends_on_time": True, "short": SHORT})
LOST = ExpectationResult(name="audit", expected="clean", measured="lost 2", holds=False, decisive=True)
SHORT_ARM = an_arm(holds=None, expectations=(OF_TIME,))
SAYS_NOTHING = f"drained: expected true, measured 9 of 10, which says nothing: {SHORT}"


@pytest.mark.parametrize(
    ("incident", "fixed", "outcome", "short_of_time", "first_reason"),
    [
        pytest.param(SHORT_ARM, True, UNKNOWN, True, f"incident: {SAYS_NOTHING}", id="a short incident arm"),
        pytest.param(True, SHORT_ARM, UNKNOWN, True, f"fixed: {SAYS_NOTHING}", id="a short fixed arm"),
        pytest.param(False, SHORT_ARM, "not reproduced", False, f"incident: {BROKEN}", id="a refuted incident"),
        pytest.param(True, None, UNKNOWN, False, f"fixed: {BROKEN}", id="not observable on any machine"),
        pytest.param(True, an_arm(holds=None, cold=COLD), UNKNOWN, False, f"fixed: {COLD}", id="cold with time"),
        pytest.param(
            True, an_arm(holds=None, cold=COLD, short=SHORT), UNKNOWN, True, f"fixed: {COLD}", id="cold, short"
        ),
        pytest.param(
            True, an_arm(holds=None, short=SLOW, expectations=()), UNKNOWN, True, f"fixed: {SLOW}", id="a slow end"
        ),
    ],
)
def test_an_arm_short_of_time_may_be_played_again(
    incident: Arm, fixed: Arm, outcome: str, short_of_time: bool, first_reason: str
) -> None:
    verdict = judged(incident, fixed)
    assert (verdict.outcome, verdict.short_of_time, verdict.reasons[0]) == (outcome, short_of_time, first_reason)


@pytest.mark.parametrize(
    ("incident", "fixed"),
    [
        (SHORT_ARM, an_arm(holds=False, expectations=(OF_TIME, LOST))),
        (True, an_arm(holds=False, expectations=(LOST,), cold=COLD)),
    ],
    ids=["the machine was short of time", "it began cold"],
)
def test_a_lost_event_is_excused_by_nothing(incident: Arm, fixed: Arm) -> None:
    verdict = judged(incident, fixed)
    assert (verdict.outcome, verdict.exit_code) == ("fix does not hold", REFUTED)


def test_arms_that_hold_and_are_alike_show_nothing_and_excuse_no_broken_expectation() -> None:
    alike = ("nothing tells them apart",)
    verdict = judged(True, True, unproven_fix=alike)
    assert (verdict.outcome, verdict.reasons) == (UNKNOWN, alike)
    assert not verdict.short_of_time, "another play would show nothing either"
    assert judged(True, False, unproven_fix=alike).outcome == "fix does not hold"
