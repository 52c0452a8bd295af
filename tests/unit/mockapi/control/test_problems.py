import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from mockapi.control.refusal import Problem, problems


class Wheel(BaseModel, extra="forbid"):
    spokes: int


def test_problems_of_an_answer_have_path_and_hint() -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(tuple[Wheel, ...]).validate_python([{"spokes": 1}, {"spoke": 2}])
    assert problems(raised.value, tuple[Wheel, ...]) == [Problem("[1].spoke", "unknown key", "did you mean 'spokes'?")]


def test_as_one_line() -> None:
    assert str(Problem("a.b", "wrong", "mend it")) == "a.b: wrong; mend it"
    assert str(Problem("", "wrong")) == "wrong"
