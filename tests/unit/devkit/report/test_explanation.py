from typing import Any

import pytest

from devkit.report.expectation_result import ExpectationResult
from devkit.report.explanation import MOST_EXAMPLES, difference, examples, explanation, headline, what_next
from devkit.report.result import ArmResult, ProgramResult, Result


def titles(result: Result) -> list[str]:
    return [part.title for part in explanation(result)]


def changed(arm: ArmResult, **changes: Any) -> ArmResult:
    return arm.model_copy(update=changes)


def test_the_order_in_which_a_person_looks(failed: Result) -> None:
    assert titles(failed) == [
        *("the program said first", "broken expectations", "configuration difference", "what the audit found")
    ]
    holding = changed(failed.arms["fixed"], holds=True, expectations=())
    reasons = {"outcome": "inconclusive", "reasons": ("fixed: fault 'x' never began",)}
    without_verdict = failed.model_copy(update={"arms": {"fixed": holding}, **reasons})
    assert titles(without_verdict) == ["the program said first", "configuration difference"]


def test_the_examples_are_few(failed: Result) -> None:
    audit = failed.arms["fixed"].audit.model_copy(update={"examples": tuple(f"lost: {n}" for n in range(9))})
    many = failed.model_copy(update={"arms": {"fixed": changed(failed.arms["fixed"], audit=audit)}})
    assert len(explanation(many)[-1].lines) == MOST_EXAMPLES


def test_where_the_rest_is_that_the_audit_counted(failed: Result) -> None:
    fixed = failed.arms["fixed"]
    audit = fixed.audit.model_copy(update={"lost": 7, "examples": ("lost: 1", "lost: 2")})

    def lines(**changes: Any) -> tuple[str, ...]:
        arm = changed(fixed, audit=audit.model_copy(update=changes))
        return explanation(failed.model_copy(update={"arms": {"fixed": arm}}))[-1].lines

    assert lines() == ("fixed: lost: 1", "fixed: lost: 2", "fixed: all such events are in fixed/audit.jsonl")
    assert lines(lost=2) == lines(unaudited=True) == lines(lost=0, unattributed=7) == lines()[:2]


def test_examples_of_another_program_have_its_name(failed: Result) -> None:
    fixed = failed.arms["fixed"]
    nothing, lost = (fixed.audit.model_copy(update={"examples": found}) for found in ((), ("lost: 7",)))
    beside = ProgramResult(
        name="content",
        run="pipeline content-enrichment",
        started=True,
        restarts=0,
        exit_codes=(),
        is_over=False,
        failures=(),
        exceptions=(),
        audit=lost,
    )
    assert examples(changed(fixed, audit=nothing, programs=(beside,))) == ("content: lost: 7",)


def test_what_a_broken_expectation_asks_for_comes_first(failed: Result) -> None:
    fixed = failed.arms["fixed"]
    audit = fixed.audit.model_copy(update={"examples": ("duplicated: 1", "lost: 7")})
    broken = ExpectationResult(name="audit", expected="lost 0", measured="lost 1", holds=False)
    assert examples(changed(fixed, audit=audit, expectations=(broken,))) == ("lost: 7", "duplicated: 1")


def test_an_arm_that_holds_is_not_quoted(failed: Result) -> None:
    complaints = failed.arms["fixed"].complaints
    incident = changed(failed.arms["incident"], complaints=complaints)
    lines = explanation(failed.model_copy(update={"arms": {**failed.arms, "incident": incident}}))[0].lines
    assert all(line.startswith("fixed: ") for line in lines)


def test_a_warning_that_both_arms_give_alike_is_left_out(failed: Result) -> None:
    both = failed.arms["fixed"].complaints
    warning, error = both
    incident = changed(failed.arms["incident"], holds=False, complaints=(warning.model_copy(update={"at_s": 9}),))
    result = failed.model_copy(update={"arms": {"incident": incident, "fixed": failed.arms["fixed"]}})
    assert explanation(result)[0].lines == (f"fixed: {error.sentence}",)
    # Where there is nothing else, it is better than nothing.
    alone = {"incident": incident, "fixed": changed(failed.arms["fixed"], complaints=(warning,))}
    assert len(explanation(failed.model_copy(update={"arms": alone}))[0].lines) == 2


@pytest.mark.parametrize(("fixed", "is_shown"), [(True, False), (False, True)])
def test_a_warning_with_which_a_fix_holds_explains_no_failure(failed: Result, fixed: bool, is_shown: bool) -> None:
    warning = failed.arms["fixed"].complaints[0]
    arms = {
        "incident": changed(failed.arms["incident"], holds=False, complaints=(warning,)),
        "fixed": changed(failed.arms["fixed"], holds=fixed, complaints=(warning,)),
    }
    parts = {part.title: part.lines for part in explanation(failed.model_copy(update={"arms": arms}))}
    assert ("the program said first" in parts) is is_shown


def test_an_error_that_both_arms_have_is_told(failed: Result) -> None:
    complaints = failed.arms["fixed"].complaints[1:]
    incident = changed(failed.arms["incident"], holds=False, complaints=complaints)
    result = failed.model_copy(update={"arms": {**failed.arms, "incident": incident}})
    assert len([line for line in explanation(result)[0].lines if complaints[0].sentence in line]) == 2


def test_what_the_machine_was_short_of_is_said_once_for_each_arm(failed: Result) -> None:
    short = "the machine was short of time: 7.3 times slower than when it is free, from 9 s to 21 s of the arm"
    items = tuple(
        ExpectationResult(name=name, expected="0", measured="1", holds=None, short=short)
        for name in ("restarts", "replays")
    )
    arm = changed(failed.arms["fixed"], holds=None, expectations=items)
    result = failed.model_copy(update={"arms": {"incident": arm, "fixed": arm}, "outcome": "inconclusive"})
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
    item = ExpectationResult(name="drained", expected="true", measured="n/a: not observable", holds=None)
    arm = changed(failed.arms["fixed"], holds=None, expectations=(item,), complaints=())
    reasons = {"outcome": "inconclusive", "reasons": (f"fixed: {item.sentence}",), "pipeline": "python mine.py"}
    result = failed.model_copy(update={"arms": {"fixed": arm}, **reasons})
    assert headline(result) == "inconclusive: fixed: drained: expected true, measured n/a: not observable"
    assert what_next(result) == ("next: docs/own-pipeline.md says what a program has to show for each expectation")
    assert titles(result) == ["configuration difference"]
