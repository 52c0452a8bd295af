from datetime import timedelta
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from located_config.duration import Duration
from located_config.problem import Problem, as_error, problems


class Wheel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    spokes: int = Field(le=40)


class Cart(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    wheels: Annotated[tuple[Wheel, ...] | None, Field(min_length=1, max_length=4)] = None
    colour: Literal["red", "green"] = "red"
    rest: Duration = timedelta(0)
    horse: Wheel | Literal["none"] = "none"
    parts: dict[str, Wheel] = {}
    kept: bool = True
    named: str = Field(default="x", alias="cart.name")

    @model_validator(mode="after")
    def _kept_red(self) -> Self:
        if not self.kept and self.colour == "green":
            raise ValueError("what is green has to be kept: write colour red")
        return self

    @field_validator("name")
    @classmethod
    def _is_short(cls, name: str) -> str:
        if len(name) > 9:
            raise ValueError(f"{name!r} is long, write less")
        return name


def found(value: object, root: Any = Cart) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(root).validate_python(value)
    return problems(raised.value, root, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"nmae": "a", "name": "a"}, "nmae: unknown key; did you mean 'name'?"),
        ({"cart_name": "a", "name": "a"}, "cart_name: unknown key; did you mean 'cart.name'?"),
        (
            {"zzz": "a", "name": "a"},
            "zzz: unknown key; there are: name, wheels, colour, rest, horse, parts, kept, cart.name",
        ),
        ({"name": "a", "wheels": [{"spokes": 1}, {"spoke": 2, "spokes": 2}]}, "wheels[1].spoke: unknown key; did"),
        ({"name": "a", "horse": {"spoke": 2, "spokes": 2}}, "horse.spoke: unknown key; did you mean 'spokes'?"),
        ({"name": "a", "parts": {"b (c)": {"spokes": 1, "d": 2}}}, "parts.b (c).d: unknown key; there are: spokes"),
        ({"name": "a", "rest:5s": None}, "rest:5s: unknown key; write a space behind the colon: `rest: 5s`"),
        ({}, "name: is missing"),
        ({"name": 5}, "name: must be text (got 5); write it in quotes"),
        ({"name": None}, "name: must be text (it is empty)"),
        ({"name": "a", "wheels": []}, "wheels: must not be empty"),
        ({"name": "a", "wheels": {"a": 1}}, "wheels: must be a list (got a mapping)"),
        ({"name": "a", "wheels": [[1]]}, "wheels[0]: must be a mapping of keys to values (got a list)"),
        ({"name": "a", "colour": "rde"}, "colour: must be 'red' or 'green' (got 'rde'); did you mean 'red'?"),
        ({"name": "a", "colour": "x" * 99}, f"colour: must be 'red' or 'green' (got '{'x' * 59}…)"),
        ({"name": "a", "kept": "perhaps"}, "kept: must be true or false (got 'perhaps')"),
        ({"name": "a", "colour": True}, "colour: must be 'red' or 'green' (got true)"),
        ({"name": "a", "rest": 5}, "rest: not a duration (got 5); write 5ms or 5s (us, ms, s, m, h, d)"),
        ({"name": "an old hay cart"}, "name: 'an old hay cart' is long, write less"),
        ({"name": "a", "horse": {"spokes": 41}}, "horse.spokes: must be less than or equal to 40 (got 41)"),
        ("cart", "(top): must be a mapping of keys to values (got 'cart')"),
    ],
)
def test_what_is_wrong_where_and_what_to_do(value: object, message: str) -> None:
    (problem,) = found(value)
    assert str(problem).startswith(message)


@pytest.mark.parametrize(
    ("document", "locations"),
    [
        ({"nmae": "a"}, [("nmae",)]),
        ({"zzz": "a"}, [("zzz",), ("name",)]),
        ({"name": "a", "wheels": [{"spoke": 1}]}, [("wheels", 0, "spoke")]),
    ],
    ids=["the missing key, misspelt", "another key", "within a list"],
)
def test_unknown_keys_come_first_and_a_missing_key_is_no_second_problem(
    document: dict[str, object], locations: list[tuple[object, ...]]
) -> None:
    assert [problem.location for problem in found(document)] == locations


@pytest.mark.parametrize(
    ("document", "place"), [({"name": "a", "kept": False, "colour": "green"}, ("kept",)), ({"a": 1}, ())]
)
def test_what_is_wrong_between_keys_is_at_the_one_that_the_message_names(
    document: dict[str, object], place: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as raised:
        Cart.model_validate({"name": "a", "kept": False, "colour": "green"})
    assert [one.location for one in problems(raised.value, Cart, document)] == [place]


def test_a_list_of_models() -> None:
    (problem,) = found([{"name": "a", "kept": 5}], tuple[Cart, ...])
    assert str(problem) == "[0].kept: must be true or false (got 5)"


def test_a_list_is_not_too_short_for_what_is_wrong_in_it() -> None:
    (problem,) = found({"name": "a", "wheels": [{"spokes": 99}]})
    assert str(problem) == "wheels[0].spokes: must be less than or equal to 40 (got 99)"


def test_a_part_that_is_validated_by_itself_is_described_once() -> None:
    def parse(value: object) -> Wheel:
        try:
            return Wheel.model_validate(value)
        except ValidationError as error:
            described = [(as_error(problem), ("under", *problem.location)) for problem in problems(error, Wheel)]
            details = [InitErrorDetails(type=made, loc=place, input="x") for made, place in described]
            raise ValidationError.from_exception_data("wheel", details) from None

    (problem,) = found({"spoke": 1}, Annotated[Wheel, PlainValidator(parse)])
    assert str(problem) == "under.spoke: unknown key; did you mean 'spokes'?"


def test_as_text() -> None:
    assert str(Problem(("a", 0), "wrong", "mend it")) == "a[0]: wrong; mend it"
    assert Problem((), "wrong").message == "wrong"


@pytest.mark.parametrize(
    ("key", "remedy"),
    [("reins", "it belongs under `horse`"), ("wheel", "did you mean 'wheels'?"), ("tent", "there are: name, wheels")],
)
def test_a_key_of_another_section_unless_it_is_misspelt(key: str, remedy: str) -> None:
    value = {"name": "a", key: 1}
    with pytest.raises(ValidationError) as raised:
        Cart.model_validate(value)
    elsewhere = {("reins",): "it belongs under `horse`", ("wheel",): "it belongs under `car`"}.get
    (problem,) = problems(raised.value, Cart, value, elsewhere)
    assert problem.remedy is not None
    assert problem.remedy.startswith(remedy)
