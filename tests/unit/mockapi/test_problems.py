from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mockapi.problems import Problem, near_miss, problems


class Wheel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    spokes: int = Field(le=40)


class Cart(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    wheels: Annotated[tuple[Wheel, ...] | None, Field(max_length=4)] = None


def found(root: object, value: object, prefix: str = "") -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(root).validate_python(value)
    return problems(raised.value, root, prefix=prefix)


def test_an_unknown_key_deep_down_meets_the_keys_of_its_own_model() -> None:
    assert found(Cart, {"name": "a", "wheels": [{"spokes": 1}, {"spoke": 2, "spokes": 2}]}) == [
        Problem("wheels[1].spoke", "unknown key", "did you mean 'spokes'? allowed: spokes")
    ]


def test_an_unknown_key_comes_before_the_key_that_is_missing_for_it() -> None:
    assert [problem.path for problem in found(Cart, {"nmae": "a"})] == ["nmae", "name"]


def test_paths_of_lists_and_prefixes() -> None:
    assert found(tuple[Cart, ...], [{"name": 1}])[0].path == "[0].name"
    assert found(tuple[Cart, ...], [{"name": 1}], prefix="carts")[0].path == "carts[0].name"


def test_a_long_value_is_cut() -> None:
    (problem,) = found(Cart, {"name": ["x" * 5_000]})
    assert len(problem.problem) < 150


def test_near_miss() -> None:
    assert near_miss("sise", ["size", "status"]) == "did you mean 'size'? allowed: size, status"
    assert near_miss("zzz", ["size"]) == "allowed: size"
    assert near_miss("zzz", []) == "allowed: none"


def test_as_one_line() -> None:
    assert str(Problem("a.b", "wrong", "mend it")) == "a.b: wrong; mend it"
    assert str(Problem("", "wrong")) == "wrong"
