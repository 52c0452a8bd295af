from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from located_config.model_keys import in_document, known_keys
from located_config.place import Location


class Leaf(BaseModel):
    size: int
    max_bytes: int = Field(default=0, alias="max.bytes")


class Other(BaseModel):
    rate: int


class Tree(BaseModel):
    one: Leaf
    many: tuple[Annotated[Leaf, Field()], ...] = ()
    named: dict[str, Leaf | None] = {}
    either: Leaf | Other | Literal["none"] = "none"


@pytest.mark.parametrize(
    ("location", "keys"),
    [
        ((), ["one", "many", "named", "either"]),
        (("one",), ["size", "max.bytes"]),
        (("many", 3), ["size", "max.bytes"]),
        (("named", "x"), ["size", "max.bytes"]),
        (("either", "Leaf"), ["size", "max.bytes", "rate"]),
    ],
)
def test_the_keys_at_a_place(location: Location, keys: list[str]) -> None:
    assert known_keys(Tree, location) == keys


def test_the_keys_of_the_items_of_a_list() -> None:
    assert known_keys(tuple[Tree, ...], (0, "either")) == ["size", "max.bytes", "rate"]


@pytest.mark.parametrize(
    ("document", "location", "path"),
    [
        ({"either": {"sise": 1}}, ("either", "Leaf", "sise"), ("either", "sise")),
        ({"either": "nun"}, ("either", "literal['none']"), ("either",)),
        ({"named": {"A (b)": {}}}, ("named", "A (b)", "size"), ("named", "A (b)", "size")),
        ({"named": {"Leaf": {}}}, ("named", "Leaf", "size"), ("named", "Leaf", "size")),
        ({}, ("one",), ("one",)),
    ],
)
def test_the_names_that_pydantic_gives_are_no_part_of_the_document(
    document: object, location: Location, path: Location
) -> None:
    assert in_document(document, Tree, location) == path
