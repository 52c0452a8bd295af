from typing import Any

import pytest

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.observable import why_not_observable
from devkit.report.expectation_result import ExpectationResult
from devkit.report.next_step import ablation_command, next_step
from devkit.report.result import CauseResult, Result
from tests.unit.devkit.report.conftest import fired

REPEAT = "devkit scenario run an-incident --seed 7"
IDLE = TimelineEvidence(fault="still", fired=True, asked="pause", acted=False, did="")
UNREACHED = TimelineEvidence(fault="g", fired=True, asked="add_partitions", acted=True, did="", unreached="partition 2")


def with_arm(result: Result, **changes: Any) -> Result:
    return result.model_copy(update={"arms": {"fixed": result.arms["fixed"].model_copy(update=changes)}})


@pytest.mark.parametrize(
    ("evidence", "step"),
    [
        (fired(fired=False), "compare the rule's `when`"),
        (fired(acted=False), "compare the rule's `when`"),
        (fired(fired=False, window=(2, 5), last_request_s=1.8), "`traffic_begins: when running` in the file"),
        (fired(fired=False, window=(2, None)), "`traffic_begins: when running` in the file"),
        (fired(fired=False, window=(2, 5), last_request_s=9), "compare the rule's `when`"),
        (fired(window=(2, 5), last_request_s=1), f"`{REPEAT}`"),
        (UNREACHED, "let the fault begin earlier in the file's timeline, or the traffic go on for longer"),
        (IDLE, "change when it begins"),
        (None, "give the scenario a fault"),
    ],
)
def test_a_fault_that_nothing_proves(good: Result, evidence: Any, step: str) -> None:
    found = {"incident": (evidence,) if evidence else ()}
    assert step in next_step(good.model_copy(update={"fault_evidence": found}))


def test_what_was_done_by_hand_is_left_out(good: Result) -> None:
    assert next_step(with_arm(good, caveats=("it was debugged",))) == f"leave that out: `{REPEAT}`"


@pytest.mark.parametrize("repeat", [REPEAT, f"{REPEAT} --stretch 1"])
def test_a_machine_that_was_short_of_time_gets_more(good: Result, repeat: str) -> None:
    short = with_arm(good, short="the machine was short of time").model_copy(update={"repeat": repeat})
    assert next_step(short) == f"`{REPEAT} --stretch 2`"


def test_a_program_that_shows_too_little(good: Result) -> None:
    assert "docs/own-pipeline.md" in next_step(good.model_copy(update={"pipeline": "python mine.py"}))


@pytest.mark.parametrize(
    ("reached", "holds", "evidence", "step"),
    [
        ({"elapsed": 10}, None, fired(), "let fixed go on for longer: it ended by `elapsed` in `until`, which counts"),
        ({"elapsed": 10}, False, fired(fired=False), "let fixed go on for longer: it ended by `elapsed` in `until`,"),
        ({"elapsed": 10}, True, IDLE, "let fixed go on for longer: it ended by `elapsed` in `until`, which counts"),
        ({"running_for": 10}, None, fired(), "let fixed go on for longer: it ended by `running_for` in `until`; then"),
        ({"restarts": 2}, None, fired(), f"`{REPEAT}`"),
    ],
)
def test_an_end_by_a_time_of_the_file_would_come_again(
    good: Result, reached: dict[str, int], holds: bool | None, evidence: Any, step: str
) -> None:
    cut = with_arm(good, holds=holds, end=EndByCondition(reached=reached))
    assert next_step(cut.model_copy(update={"fault_evidence": {"fixed": (evidence,)}})).startswith(step)


def test_what_a_program_does_not_show_needs_no_more_time(good: Result) -> None:
    lost = ExpectationResult(
        name="audit", expected="lost 0", measured=why_not_observable(frozenset({"offsets"})), holds=None
    )
    cut = with_arm(good, holds=None, end=EndByCondition(reached={"elapsed": 9}), expectations=(lost,))
    assert next_step(cut).startswith("docs/own-pipeline.md says what a program has to show")
    soon = ExpectationResult(name="rate", expected="1/s", measured="n/a: nothing was emitted yet", holds=None)
    assert next_step(with_arm(cut, expectations=(lost, soon))).startswith("let fixed go on for longer")
    by_upstream = lost.model_copy(update={"measured": why_not_observable(frozenset({"upstream"}))})
    assert next_step(with_arm(cut, expectations=(by_upstream,))).startswith("let fixed go on for longer")


def test_a_cause_that_had_no_time_to_show_itself(good: Result) -> None:
    cut = with_arm(good, end=EndByCondition(reached={"elapsed": 9}))
    cut = cut.model_copy(update={"cause": (CauseResult(cause="fault 'x'", shown=False, did="it never began"),)})
    assert next_step(cut).startswith("let fixed go on for longer")


def test_a_machine_without_time_is_no_matter_of_the_file(good: Result) -> None:
    cut = with_arm(good, holds=None, short="the machine was short", end=EndByCondition(reached={"elapsed": 9}))
    assert "--stretch" in next_step(cut)


def test_a_fix_whose_progress_nothing_bounds(good: Result) -> None:
    slow = with_arm(good, holds=None, unfinished="ended by its running for 15s", end=EndByCondition(reached={"a": 9}))
    assert next_step(slow).startswith("write under `expect` how far fixed has to come (`drained`, or a bound")


def test_arms_that_hold_and_show_no_fix(good: Result) -> None:
    undecided = good.model_copy(update={"outcome": "inconclusive", "reasons": ("fixed: fault 'x' is in arm incident",)})
    assert next_step(undecided) == "change the scenario as the reason says, and repeat the run"


ONE = {"fetch.concurrency": {"incident": 1, "fixed": 9}}


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, f"{REPEAT} --ablate"),
        ({"config_difference": ONE}, ""),  # without it nothing would differ
        ({"exit_code": 1}, ""),
        ({"roles": {"fixed": "fixed"}}, ""),
        (
            {"roles": {"incident": "incident", "fixed": "fixed", "later": "fixed"}},
            f"{REPEAT} --ablate --arm incident --arm fixed",
        ),
    ],
)
def test_what_a_fix_needs_is_shown_by_an_ablation(good: Result, changes: dict[str, Any], command: str) -> None:
    arms = {**good.arms, "later": good.arms["fixed"]}
    repeat = f"{REPEAT} --arm incident --arm fixed --arm later" if "later" in changes.get("roles", {}) else REPEAT
    assert ablation_command(good.model_copy(update={"arms": arms, "repeat": repeat} | changes)) == command


def test_otherwise_the_run_is_repeated(good: Result) -> None:
    assert next_step(good) == f"`{REPEAT}`"
