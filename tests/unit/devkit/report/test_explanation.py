from typing import Any

import pytest

from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.observable import why_not_observable
from devkit.report.explanation import MOST_EXAMPLES, difference, examples, explanation, headline, what_next
from devkit.report.next_step import ablation_command, next_step
from devkit.report.result import ArmResult, CauseResult, Result
from tests.unit.devkit.report.conftest import a_program, expectation, fired, with_arm

REPEAT = "devkit scenario run an-incident --seed 7"
IDLE = TimelineEvidence(fault="still", fired=True, asked="pause", acted=False, did="")
UNREACHED = TimelineEvidence(fault="g", fired=True, asked="add_partitions", acted=True, did="", unreached="partition 2")


def titles(result: Result) -> list[str]:
    return [part.title for part in explanation(result)]


def changed(arm: ArmResult, **changes: Any) -> ArmResult:
    return arm.model_copy(update=changes)


def with_arms(result: Result, **arms: ArmResult) -> Result:
    return result.model_copy(update={"arms": arms})


def test_the_order_in_which_a_person_looks(failed: Result) -> None:
    assert titles(failed) == [
        *("the program said first", "broken expectations", "configuration difference", "what the audit found")
    ]
    reasons = {"outcome": "inconclusive", "reasons": ("fixed: fault 'x' never began",)}
    without_verdict = with_arm(failed, holds=True, expectations=()).model_copy(update=reasons)
    assert titles(without_verdict) == ["the program said first", "configuration difference"]


def test_the_examples_are_few(failed: Result) -> None:
    audit = failed.arms["fixed"].audit.model_copy(update={"examples": tuple(f"lost: {n}" for n in range(9))})
    assert len(explanation(with_arm(failed, audit=audit))[-1].lines) == MOST_EXAMPLES


@pytest.mark.parametrize(
    ("changes", "is_said"),
    [({}, True), ({"lost": 2}, False), ({"unaudited": True}, False), ({"lost": 0, "unattributed": 7}, False)],
    ids=["more are lost", "all are shown", "nothing was audited", "of the unattributed there is no event"],
)
def test_where_the_rest_is_that_the_audit_counted(failed: Result, changes: dict[str, Any], is_said: bool) -> None:
    audit = failed.arms["fixed"].audit.model_copy(update={"lost": 7, "examples": ("lost: 1", "lost: 2")} | changes)
    rest = ("fixed: all such events are in fixed/audit.jsonl",) if is_said else ()
    assert explanation(with_arm(failed, audit=audit))[-1].lines == ("fixed: lost: 1", "fixed: lost: 2", *rest)


def test_examples_of_another_program_have_its_name(failed: Result) -> None:
    fixed = failed.arms["fixed"]
    nothing, lost = (fixed.audit.model_copy(update={"examples": found}) for found in ((), ("lost: 7",)))
    beside = a_program("content", audit=lost)
    assert examples(changed(fixed, audit=nothing, programs=(beside,))) == ("content: lost: 7",)


@pytest.mark.parametrize(
    ("expected", "found", "shown"),
    [
        ("lost 0", ("duplicated: 1", "lost: 7"), ("lost: 7", "duplicated: 1")),
        ("out_of_order 0", ("duplicated: 1", "out of order: 7"), ("out of order: 7", "duplicated: 1")),
        ("lost 0", ("mismatched: 1", "lost: 7"), ("lost: 7",)),
        ("lost 0, mismatched at most 2", ("mismatched: 1", "lost: 7"), ("mismatched: 1", "lost: 7")),
        ("clean", ("mismatched: 1",), ("mismatched: 1",)),
    ],
    ids=["asked for first", "asked for in two words", "content not asked for", "content asked for", "all asked for"],
)
def test_examples_that_expectations_ask_for(
    failed: Result, expected: str, found: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    fixed = failed.arms["fixed"]
    beside = a_program("content", audit=fixed.audit.model_copy(update={"examples": found[:1]}))
    audit = fixed.audit.model_copy(update={"examples": found})
    broken = expectation("audit", expected, "lost 1", False)
    arm = changed(fixed, audit=audit, programs=(beside,), expectations=(broken,))
    named = tuple(f"content: {example}" for example in found[:1] if example in shown)
    assert examples(arm) == (*shown, *named)


def test_no_further_events_where_none_is_shown(failed: Result) -> None:
    audit = failed.arms["fixed"].audit.model_copy(update={"mismatched": 7, "examples": ("mismatched: 1",)})
    drained = expectation("drained", "true", "committed 1 of 2", False)
    assert "what the audit found" not in titles(with_arm(failed, audit=audit, expectations=(drained,)))


def test_an_arm_that_holds_is_not_quoted(failed: Result) -> None:
    lines = explanation(with_arm(failed, "incident", complaints=failed.arms["fixed"].complaints))[0].lines
    assert all(line.startswith("fixed: ") for line in lines)


def test_a_warning_that_both_arms_give_alike_is_left_out(failed: Result) -> None:
    fixed = failed.arms["fixed"]
    warning, error = fixed.complaints
    incident = changed(failed.arms["incident"], holds=False, complaints=(warning.model_copy(update={"at_s": 9}),))
    result = with_arms(failed, incident=incident, fixed=fixed)
    assert explanation(result)[0].lines == (f"fixed: {error.sentence}",)
    # Where there is nothing else, it is better than nothing.
    alone = with_arms(failed, incident=incident, fixed=changed(fixed, complaints=(warning,)))
    assert len(explanation(alone)[0].lines) == 2


@pytest.mark.parametrize(("holds", "is_shown"), [(True, False), (False, True)])
def test_a_warning_with_which_a_fix_holds_explains_no_failure(failed: Result, holds: bool, is_shown: bool) -> None:
    warnings = failed.arms["fixed"].complaints[:1]
    result = with_arm(with_arm(failed, complaints=warnings, holds=holds), "incident", complaints=warnings, holds=False)
    assert ("the program said first" in titles(result)) is is_shown


def test_an_error_that_both_arms_have_is_told(failed: Result) -> None:
    (error,) = complaints = failed.arms["fixed"].complaints[1:]
    result = with_arm(failed, "incident", holds=False, complaints=complaints)
    assert len([line for line in explanation(result)[0].lines if error.sentence in line]) == 2


def test_what_the_machine_was_short_of_is_said_once_for_each_arm(failed: Result) -> None:
    short = "the machine was short of time: 7.3 times slower than when it is free, from 9 s to 21 s of the arm"
    items = tuple(expectation(name, "0", "1", None, short=short) for name in ("restarts", "replays"))
    arm = changed(failed.arms["fixed"], holds=None, expectations=items)
    result = with_arms(failed, incident=arm, fixed=arm).model_copy(update={"outcome": "inconclusive"})
    (part,) = [part for part in explanation(result) if part.title == "not judged"]
    assert part.lines[0] == f"incident: restarts: expected 0, measured 1, which says nothing: {short}"
    assert part.lines[1] == "incident: replays: expected 0, measured 1, which says nothing"
    assert [short in line for line in part.lines] == [True, False, True, False]


def test_a_key_that_one_arm_does_not_have_is_not_set(failed: Result) -> None:
    differing = {"sink.delivery_timeout": {"incident": "3s", "fixed": None}}
    assert difference(failed.model_copy(update={"config_difference": differing})) == [
        "sink.delivery_timeout: 3s (incident) → not set (fixed)"
    ]


def test_what_the_headline_says_is_not_said_again(failed: Result) -> None:
    item = expectation("drained", "true", "n/a: not observable", None)
    arm = changed(failed.arms["fixed"], holds=None, expectations=(item,), complaints=())
    reasons = {"outcome": "inconclusive", "reasons": (f"fixed: {item.sentence}",), "pipeline": "python mine.py"}
    result = with_arms(failed, fixed=arm).model_copy(update=reasons)
    assert headline(result) == "inconclusive: fixed: drained: expected true, measured n/a: not observable"
    assert what_next(result) == ("next: docs/own-pipeline.md says what a program has to show for each expectation")
    assert titles(result) == ["configuration difference"]


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


def slower(slowdown: float) -> ArmHeadroom:
    worst = {"worst_slowdown": slowdown, "worst_from_s": 0, "core_slowdown": 1, "others_cores": None, "pressure": None}
    return ArmHeadroom.model_validate({"slowdown": slowdown, "limit": 5} | worst)


CUT = EndByCondition(reached={"elapsed": 9})
UNSEEN = (CauseResult(cause="fault 'x'", shown=False, did="it never began"),)
UNPROVEN = {"outcome": "inconclusive", "reasons": ("fixed: fault 'x' is in arm incident",)}
UNFINISHED = {"holds": None, "unproven": "ended by its running for 15s", "end": EndByCondition(reached={"a": 9})}
STRETCHED = {"repeat": f"{REPEAT} --stretch 1"}


@pytest.mark.parametrize(
    ("arm", "run", "step"),
    [
        ({}, {}, f"`{REPEAT}`"),
        ({"caveats": ("it was debugged",)}, {}, f"leave that out: `{REPEAT}`"),
        ({"short": "the machine was short"}, {}, f"`{REPEAT} --stretch 2`"),
        ({"short": "the machine was short"}, STRETCHED, f"`{REPEAT} --stretch 2`"),
        ({"short": "the machine was short", "headroom": slower(21)}, {}, f"`{REPEAT} --stretch 5`"),
        ({"short": "the machine was short", "headroom": slower(90)}, {}, "end what else uses the machine, or wait"),
        ({"short": "the machine was short", "holds": None, "end": CUT}, {}, f"`{REPEAT} --stretch 2`"),
        ({}, {"pipeline": "python mine.py"}, "docs/own-pipeline.md"),
        ({"end": CUT}, {"cause": UNSEEN}, "let fixed go on for longer"),
        (UNFINISHED, {}, "write under `expect` what fixed has to do, as the reason says"),
        ({}, UNPROVEN, "change the scenario as the reason says, and repeat the run"),
    ],
    ids=[
        "otherwise the run is repeated",
        "what was done by hand is left out",
        "a machine that was short of time gets more",
        "and more than the stretch that it had",
        "as much as would have been enough",
        "but no more than is of use",
        "a machine without time is no matter of the file",
        "a program that shows too little",
        "a cause that had no time to show itself",
        "a fix whose progress nothing bounds",
        "arms that hold and show no fix",
    ],
)
def test_the_next_step(good: Result, arm: dict[str, Any], run: dict[str, Any], step: str) -> None:
    result = with_arm(good, **arm) if arm else good
    assert next_step(result.model_copy(update=run)).startswith(step)


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
    lost = expectation("audit", "lost 0", why_not_observable(frozenset({"offsets"})), None)
    cut = with_arm(good, holds=None, end=EndByCondition(reached={"elapsed": 9}), expectations=(lost,))
    assert next_step(cut).startswith("docs/own-pipeline.md says what a program has to show")
    soon = expectation("rate", "1/s", "n/a: nothing was emitted yet", None)
    assert next_step(with_arm(cut, expectations=(lost, soon))).startswith("let fixed go on for longer")
    by_upstream = lost.model_copy(update={"measured": why_not_observable(frozenset({"upstream"}))})
    assert next_step(with_arm(cut, expectations=(by_upstream,))).startswith("let fixed go on for longer")


THREE = {"incident": "incident", "fixed": "fixed", "later": "fixed"}
ONE = {"fetch.concurrency": {"incident": 1, "fixed": 9}}


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, f"{REPEAT} --ablate"),
        ({"config_difference": ONE}, ""),  # without it nothing would differ
        ({"exit_code": 1}, ""),
        ({"roles": {"fixed": "fixed"}}, ""),
        ({"roles": THREE}, f"{REPEAT} --ablate --arm incident --arm fixed"),
    ],
)
def test_what_a_fix_needs_is_shown_by_an_ablation(good: Result, changes: dict[str, Any], command: str) -> None:
    arms = {**good.arms, "later": good.arms["fixed"]}
    repeat = f"{REPEAT} --arm incident --arm fixed --arm later" if "later" in changes.get("roles", {}) else REPEAT
    assert ablation_command(good.model_copy(update={"arms": arms, "repeat": repeat} | changes)) == command
