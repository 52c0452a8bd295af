from typing import Any

from devkit.report.explanation import MOST_EXAMPLES, explanation, headline
from devkit.report.result import ArmResult, ExpectationResult, Result


def titles(result: Result) -> list[str]:
    return [part.title for part in explanation(result)]


def changed(arm: ArmResult, **changes: Any) -> ArmResult:
    return arm.model_copy(update=changes)


def test_the_order_in_which_a_person_looks(failed: Result) -> None:
    assert titles(failed) == [
        "the program said first",
        "broken expectations",
        "configuration difference",
        "what the audit found",
    ]


def test_the_examples_are_few(failed: Result) -> None:
    audit = failed.arms["fixed"].audit.model_copy(update={"examples": tuple(f"lost: {n}" for n in range(9))})
    many = failed.model_copy(update={"arms": {"fixed": changed(failed.arms["fixed"], audit=audit)}})
    assert len(explanation(many)[-1].lines) == MOST_EXAMPLES


def test_an_arm_that_holds_is_not_quoted(failed: Result) -> None:
    said = failed.arms["fixed"].complaints
    incident = changed(failed.arms["incident"], complaints=said)
    lines = explanation(failed.model_copy(update={"arms": {**failed.arms, "incident": incident}}))[0].lines
    assert all(line.startswith("fixed: ") for line in lines)


def test_without_a_verdict_arms_that_hold_are_quoted_too(failed: Result) -> None:
    holding = changed(failed.arms["fixed"], holds=True, expectations=())
    reasons = {"outcome": "inconclusive", "reasons": ("fixed: fault 'x' never began",)}
    result = failed.model_copy(update={"arms": {"fixed": holding}, **reasons})
    assert titles(result) == ["the program said first", "configuration difference"]


def test_what_the_headline_says_is_not_said_again(failed: Result) -> None:
    item = ExpectationResult(name="drained", expected="true", measured="n/a: not observable", holds=None)
    arm = changed(failed.arms["fixed"], holds=None, expectations=(item,), complaints=())
    reasons = {"outcome": "inconclusive", "reasons": (f"fixed: {item.told}",), "pipeline": "python mine.py"}
    result = failed.model_copy(update={"arms": {"fixed": arm}, **reasons})
    assert headline(result) == (
        "inconclusive: fixed: drained: expected true, measured n/a: not observable; next: "
        "docs/own-pipeline.md says what a program has to show for each expectation"
    )
    assert titles(result) == ["configuration difference"]
