import pytest

from tests.unit.mockapi.faults.planned import delivery, problem


def test_the_rule_that_holds_the_request_is_named() -> None:
    assert delivery({"latency": "1s"}, {"hang": True}).hang == "r1"


def test_it_is_there_or_not() -> None:
    assert problem({"hang": False}).startswith("do.hang: ")


@pytest.mark.parametrize("other", [{"status": 503}, {"latency": "1s"}, {"reset": {}}])
def test_what_never_answers_has_no_answer_to_change(other: dict[str, object]) -> None:
    (name,) = other
    assert f"hang and {name} in one rule" in problem({"hang": True, **other})
