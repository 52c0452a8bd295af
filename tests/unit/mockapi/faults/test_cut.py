"""What `reset` and `close` have in common, and what they do not."""

from typing import Any

import pytest

from mockapi.server.delivery import HALF, BytePlace, Ending, Offset
from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize("name", ["reset", "close"])
@pytest.mark.parametrize(
    ("fault", "place", "offset"),
    [
        ("before headers", BytePlace.BEFORE_HEADERS, HALF),
        ({}, BytePlace.BEFORE_HEADERS, HALF),
        ("before body", BytePlace.BEFORE_BODY, HALF),
        ({"at": "in headers", "after": 5}, BytePlace.IN_HEADERS, Offset(count=5)),
        ({"at": "in body", "after": "10%"}, BytePlace.IN_BODY, Offset(share=0.1)),
    ],
)
def test_the_answer_ends_there(name: str, fault: Any, place: BytePlace, offset: Offset) -> None:
    assert delivery({name: fault}).ending == Ending(place, offset, reset=name == "reset")


@pytest.mark.parametrize("name", ["reset", "close"])
def test_a_place_within_needs_a_run_of_bytes(name: str) -> None:
    assert "it needs at: in headers, or at: in body" in problem({name: {"after": 5}})
    assert f"do.{name}.at: must be 'before headers', 'in" in problem({name: "in the middle"})


def test_the_last_ending_decides() -> None:
    made = delivery({"hang": True}, {"close": {}}, {"reset": "before body"})
    assert made.hang is None
    assert made.ending == Ending(BytePlace.BEFORE_BODY, reset=True)
    assert delivery({"close": {}}, {"hang": True}).ending is None


def test_one_rule_has_one_ending() -> None:
    assert "an answer ends in one way" in problem({"close": {}, "truncate": "50%"})
