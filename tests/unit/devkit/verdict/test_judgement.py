"""What depends on time is not judged on a machine that had none, in either direction."""

from dataclasses import replace

import pytest

from devkit.expectations import Expectation
from devkit.headroom.shortage import UNMEASURED, Headroom
from devkit.observe.arm_end import EndByCondition, EndByDeadline
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.figures import FlatCommit
from devkit.observe.logs.logs import LoggedException
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.verdict.judgement import judge_arm
from tests.unit.devkit.headroom.readings import samples
from tests.unit.devkit.observed import an_audit, an_observation, observed_with, some_figures

SHORT = Headroom(samples(*[8] * 60))
ROOM = Headroom(samples(*[4] * 60))
FLAT = FlatCommit(duration_s=20, from_s=5, committed=0, source_end=500, median_cpu_cores=0.1, mean_cpu_cores=0.1)
DEADLINE = EndByDeadline(deadline_s=60)


def expecting(**expectations: object) -> list[Expectation]:
    return [Expectation.model_validate({name: argument}) for name, argument in expectations.items()]


@pytest.mark.parametrize("headroom", [ROOM, UNMEASURED])
@pytest.mark.parametrize("drained", [True, False])
def test_with_room_a_finding_is_one(headroom: Headroom, drained: bool) -> None:
    judged = judge_arm(expecting(drained=True), an_observation(drained=drained), headroom)
    (item,) = judged.expectations
    assert (judged.holds, item.holds, item.depends_on_time, item.short) == (drained, drained, True, "")


@pytest.mark.parametrize("drained", [True, False])
def test_without_room_it_is_none_whether_it_holds_or_not(drained: bool) -> None:
    judged = judge_arm(expecting(drained=True), an_observation(drained=drained), SHORT)
    (item,) = judged.expectations
    assert (judged.holds, item.holds) == (None, None)
    assert item.short.startswith("the machine was short of time: 8.0 times slower than when it is free, from 0 s to 60")
    assert item.measured == "committed 160 of 161"  # is told all the same


@pytest.mark.parametrize("arm", ["incident", "fixed"])
def test_a_comparison_is_short_where_one_of_its_arms_is(arm: str) -> None:
    """With the slowdown of that arm, by which a second play is stretched."""
    busy = "the machine was short of time: 12.0 times slower than when it is free"
    arms = {name: ComparedArm(an_observation()) for name in ("incident", "fixed")}
    arms[arm] = ComparedArm(an_observation(), busy, 12.0)
    compare = expecting(compare={"rate": {"arms": ["fixed", "incident"], "at_least": 2}})
    judged = judge_arm(compare, an_observation(arms=arms), ROOM)
    (item,) = judged.expectations
    assert (judged.holds, item.short, item.slowdown) == (None, busy, 12.0)
    assert item.sentence.endswith(f"at least 2, measured n/a in arm {arm}, which says nothing: {busy}")


def test_an_incident_that_only_a_slow_machine_shows_is_none() -> None:
    stalled = an_observation(
        restarts=2, failures=("no commit",) * 2, stalls=("no commit",) * 2, figures=some_figures(flat_commit=FLAT)
    )
    expected = expecting(restarts={"at_least": 2}, flat_commit={"at_least": "15s"}, idle_cpu={"at_most": 1})
    assert judge_arm(expected, stalled, ROOM).holds is True
    assert [item.holds for item in judge_arm(expected, stalled, SHORT).expectations] == [None] * 3


def test_what_does_not_depend_on_time_is_judged_all_the_same() -> None:
    loop = an_observation(
        restarts=2,
        failures=("too large",) * 2,
        exceptions=(LoggedException(1, "RecordTooLargeException", "23048294"),),
        drained=False,
    )
    expected = expecting(restarts={"at_least": 2}, exception={"class": "RecordTooLargeException"})
    judged = judge_arm(expected, loop, SHORT)
    assert judged.holds is True
    assert [item.depends_on_time for item in judged.expectations] == [False, False]
    assert judge_arm(expecting(claim_checks=1), an_observation(), SHORT).holds is False


@pytest.mark.parametrize("problem", [{"lost": 1}, {"out_of_order": 1}, {"duplicated": 1}, {"conflicting": 1}])
def test_what_was_lost_or_reordered_is_excused_by_nothing(problem: dict[str, int]) -> None:
    observation = an_observation(drained=False, end=DEADLINE, audit=an_audit(**problem))
    judged = judge_arm(expecting(audit="clean", drained=True), observation, SHORT)
    assert judged.holds is False
    assert [item.holds for item in judged.expectations] == [False, None]


def test_a_fetch_that_timed_out_on_a_short_machine_breaks_no_audit() -> None:
    timed_out = an_observation(audit=an_audit(outputs=149, errors=5, misrouted=1))
    assert judge_arm(expecting(audit="clean"), timed_out, ROOM).holds is False
    (item,) = judge_arm(expecting(audit="clean"), timed_out, SHORT).expectations
    assert (item.holds, item.measured, item.depends_on_time) == (None, "misrouted 1", True)


def test_the_end_by_a_deadline_excuses_what_had_not_happened_by_then() -> None:
    late = an_observation(end=DEADLINE, drained=False)
    expected = expecting(exception={"class": "RecordTooLargeException"})
    assert judge_arm(expected, late, ROOM).holds is False
    judged = judge_arm(expected, late, SHORT)
    assert judged.holds is None
    assert judged.expectations[0].short.startswith("ended by its deadline of 60s, and the machine was short of time")


@pytest.mark.parametrize("condition", ["restarts", "replays"])
def test_the_end_by_restarts_that_a_slow_machine_made_excuses_what_had_not_happened_by_then(
    condition: str,
) -> None:
    stalled = an_observation(
        restarts=2, failures=("no commit",) * 2, stalls=("no commit",) * 2, end=EndByCondition(reached={condition: 2})
    )
    expected = expecting(exception={"class": "RecordTooLargeException"})
    assert judge_arm(expected, stalled, ROOM).holds is False
    judged = judge_arm(expected, stalled, SHORT)
    assert judged.holds is None
    assert judged.short.startswith(f"ended by its {condition} 2, and the machine was short of time")
    # Those that any machine shows excuse nothing, nor does it when an arm has come to the end of its work.
    loop = observed_with(stalled, failures=("too large",) * 2, stalls=())
    assert judge_arm(expected, loop, SHORT).holds is False
    done = replace(stalled, end=EndByCondition(reached={"drained": 1}))
    assert judge_arm(expected, done, SHORT).holds is False


def test_an_arm_that_holds_at_its_deadline_is_none_as_well() -> None:
    seen = an_observation(end=DEADLINE, exceptions=(LoggedException(1, "RecordTooLargeException", ""),))
    judged = judge_arm(expecting(exception={"class": "RecordTooLargeException"}), seen, SHORT)
    assert (judged.holds, judged.expectations[0].holds) == (None, True)
    assert judged.short


def test_a_short_while_counts_for_a_commit_and_not_for_the_arm() -> None:
    for_a_while = replace(SHORT, samples=samples(*[1] * 30, *[20] * 10, *[1] * 30))
    judged = judge_arm(
        expecting(latency={"percentile": 95, "at_most": "10s"}, drained=True), an_observation(), for_a_while
    )
    assert [item.holds for item in judged.expectations] == [None, True]


def test_a_machine_that_the_probe_did_not_see_is_taken_for_short() -> None:
    unwatched = Headroom(samples(*[1] * 5), lasted_s=60)
    judged = judge_arm(expecting(drained=True, claim_checks=0), an_observation(drained=False), unwatched)
    assert [item.holds for item in judged.expectations] == [None, True]
    assert judged.expectations[0].short.startswith("how fast the machine was is not known for 55 s")


def test_what_is_not_observable_stays_so() -> None:
    not_observable = an_observation(not_observable=frozenset({"offsets"}), drained=False)
    (item,) = judge_arm(expecting(flat_commit={"at_least": "15s"}), not_observable, SHORT).expectations
    assert (item.holds, item.short) == (None, "")
    assert item.measured.startswith("n/a: not observable")


class TestSteps:
    """The steps of an arm are expectations too."""

    DONE = StepOutcome(number=1, step="start new", holds=True, did="process 1", from_s=0, to_s=1)

    @pytest.mark.parametrize(
        ("step", "measured"),
        [
            (StepOutcome(number=2, step="command x", holds=False, did="exit code 3", from_s=1, to_s=2), "exit code 3"),
            (StepOutcome(number=2, step="expect refused: …x…", from_s=1), "had not come when the arm ended"),
            (StepOutcome(number=2, step="expect refused: …x…"), "its turn never came"),
        ],
    )
    def test_one_that_fails_or_never_comes_breaks_the_arm(self, step: StepOutcome, measured: str) -> None:
        judged = judge_arm(expecting(drained=True), an_observation(drained=True, steps=(self.DONE, step)), ROOM)
        assert not judged.holds
        assert [(one.name, one.holds) for one in judged.expectations] == [
            ("step 1", True),
            ("step 2", False),
            ("drained", True),
        ]
        assert judged.expectations[1].measured == measured

    def test_one_that_was_too_slow_on_a_slow_machine_says_nothing(self) -> None:
        slow = StepOutcome(number=1, step="command x", holds=False, did="killed", from_s=0, to_s=9, timed_out=True)
        assert judge_arm([], an_observation(steps=(slow,)), SHORT).holds is None
        assert judge_arm([], an_observation(steps=(slow,)), ROOM).holds is False
