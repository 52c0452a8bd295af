from typing import Any

import pytest

from devkit.report.explanation import MOST_EXAMPLES, difference, examples, explanation, headline, what_next
from devkit.report.result import ArmResult, Result
from tests.unit.devkit.report.conftest import a_program, expectation, with_arm


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
