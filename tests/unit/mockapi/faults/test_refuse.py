import pytest

from mockapi.rules.model import Rule
from mockapi.server.delivery import AS_IT_IS
from tests.unit.mockapi.faults.planned import plan, problem


def test_a_request_that_came_in_is_answered() -> None:
    made = plan({"refuse": "10s"})
    assert (made.delivery, made.rules) == (AS_IT_IS, ("r0",))


def test_it_has_an_end() -> None:
    assert "give it a time, such as refuse: 10s, or the rule a ttl" in problem({"refuse": {}})
    assert problem({"refuse": {}}, ttl="5s") == ""
    assert problem({"refuse": "5s"}) == ""


def test_it_can_be_written_and_read_again() -> None:
    own = Rule.model_validate({"name": "r", "do": {"refuse": {"for": "5s"}}})
    assert Rule.model_validate_json(own.model_dump_json(by_alias=True)) == own


@pytest.mark.parametrize(
    "choice", [{"when": {"path": "/w/*"}}, {"when": {"window": {"from": "1s"}}}, {"times": 1}], ids=str
)
def test_it_cannot_choose_among_requests(choice: dict[str, object]) -> None:
    assert "refuse cannot choose among requests" in problem({"refuse": "5s"}, **choice)


def test_it_stands_alone() -> None:
    assert "refuse and status in one rule" in problem({"refuse": "5s", "status": 503})
