from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from ruamel.yaml import YAML

from located_config.flow import flow
from located_config.model_keys import in_document, known_keys
from located_config.place import Location, position, reaches, shown
from located_config.yaml_file import UnfitError, parse_yaml, read_mapping, read_yaml

NO_TAB = "indent with spaces; YAML takes no tab there"
NOT_CLOSED = "the `[` of line 1, column 4 is not closed before that"
BARE = ["10s", "20MiB", "5%", "in body", "logs/a-b", "https://example.org/x", "127.0.0.1", "lag > 500"]
LIKE_OTHERS = ["504", "1e3", "1.5", "1.", "1_000", "0x10", "2024-01-01", "2024-01-01T00:00:00Z", "true", "null"]
LIKE_SYNTAX = ["", " a", "a ", "a, b", "a: b", "a:", "a #b", "{a}", "*", "-", "-a", "~", "'", "two\nlines"]
DOCUMENT = """\
# a comment
first: 1
nested:
  deep: { x: 1, y: [10,
    20] }
shared: &shared
  inherited: 1
copy: { <<: *shared, own: 2 }
"""


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a:\n\tb: 1\n", 2, 1, rf"not YAML: found character '\t' that cannot start any token; {NO_TAB}"),
        ("a: 1\na: 2\n", 2, 1, 'not YAML: found duplicate key "a" with value "2" (original value: "1")'),
        ('a: 1\nb: "x\nc: 3\n', 2, 4, "not YAML: the quote that is opened here is never closed"),
        ("a: [1, 2\nb: 3\n", 2, 2, f"not YAML: expected ',' or ']', but got ':'; {NOT_CLOSED}"),
        ("a: [1, 2}\n", 1, 9, "not YAML: expected ',' or ']', but got '}'"),
        ("a: 1\nb: 2026-02-30\n", 2, 4, "not YAML: '2026-02-30' cannot be read: day is out of range for month"),
        ("- [!!int x]", 1, 4, "not YAML: 'x' cannot be read: invalid literal for int() with base 10: 'x'"),
        ("!!float x", 1, 1, "not YAML: 'x' cannot be read: could not convert string to float: 'x'"),
        ("a: " + "[" * 500, 1, 1, "not YAML that can be read: nested too deeply"),
    ],
)
def test_what_is_no_yaml_has_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(UnfitError) as caught:
        parse_yaml(text)
    assert (caught.value.line, caught.value.column, str(caught.value)) == (line, column, message)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("rate: %20", "; write the value in quotes, as YAML has another use for its first character"),
        ("name: @home", "; write the value in quotes, as YAML has another use for its first character"),
        ("page: *Huge", "; `*` begins an alias in YAML; write the value in quotes"),
        ("page: *", "; `*` and `&` begin names; write the value in quotes"),
        ("title: a page: too large", "; a value with a colon and a space in it stands in quotes"),
        ("any:\n  - a: 1\n  b: 2", "; perhaps a `- ` is missing before it, or it is indented otherwise"),
        ("a:\n  rate:20/s\n  for: 8s", "; write a space behind the colon in line 2: `rate: 20/s`"),
        ("a:\n  seed: 7\n  rate:20/s\nb: 1", "; write a space behind the colon in line 3: `rate: 20/s`"),
    ],
)
def test_the_usual_slips_have_a_remedy(text: str, remedy: str) -> None:
    with pytest.raises(UnfitError) as caught:
        parse_yaml(text)
    assert str(caught.value).endswith(remedy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("password: hunter2\npassword: hunter3", 'found duplicate key "password"'),
        ("kafka: {password: 12345}\nkafka: {password: 12346}", 'found duplicate key "kafka"'),
        ("x: 1\nx: [a: hunter2]", 'found duplicate key "x"'),
        ("password: *hunter2", "found undefined alias; `*` begins an alias in YAML; write the value in quotes"),
    ],
)
def test_what_may_be_a_secret_is_not_shown(text: str, message: str) -> None:
    with pytest.raises(UnfitError) as caught:
        parse_yaml(text)
    assert str(caught.value) == f"not YAML: {message}"


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(UnfitError, match=r"cannot be read.*surrogates not allowed") as caught:
        parse_yaml('a:\n  b: "\\ud800"\n')
    assert (caught.value.line, caught.value.column) == (2, 6)


def test_a_document_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    for text, value in (("", None), ("- a\n", ["a"]), ("a: 1\n", {"a": 1}), ("5", 5)):
        path.write_text(text)
        assert read_yaml(path) == value


@pytest.mark.parametrize(("text", "kind"), [("", "empty"), ("- a\n", "a list"), ("5", "a single value")])
def test_a_mapping_is_asked_for(tmp_path: Path, text: str, kind: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(UnfitError, match=f"the file is {kind}; it must be a mapping"):
        read_mapping(path)


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xe9")
    with pytest.raises(UnfitError, match=r"not UTF-8 text: .* at byte 3"):
        read_yaml(path)
    with pytest.raises(OSError, match="No such file"):
        read_yaml(tmp_path / "none.yaml")


@pytest.mark.parametrize("text", [*BARE, *LIKE_OTHERS, *LIKE_SYNTAX])
@pytest.mark.parametrize("place", ["a mapping", "a list"])
def test_a_text_is_read_back_as_it_was(text: str, place: str) -> None:
    value: Any = {"key": text} if place == "a mapping" else [text, text]
    assert YAML(typ="safe", pure=True).load(flow(value)) == value


@pytest.mark.parametrize("text", BARE)
def test_a_text_that_needs_no_quotes_has_none(text: str) -> None:
    assert flow(text) == text


def test_a_value_stands_on_one_line() -> None:
    value = {"code": 504, "share": 0.05, "after": ["10s", None, True], "a": {}}
    assert flow(value) == "{code: 504, share: 0.05, after: [10s, null, true], a: {}}"


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ((), (1, 1)),
        (("first",), (2, 1)),
        (("nested", "deep"), (4, 3)),
        (("nested", "deep", "x"), (4, 11)),
        (("nested", "deep", "y", 0), (4, 21)),
        (("nested", "deep", "y", 1), (5, 5)),
        # What is not there: the innermost part that is.
        (("nothing",), (1, 1)),
        (("nested", "deep", "z"), (4, 3)),
        (("nested", "deep", "y", 7), (4, 17)),
        (("first", "below"), (2, 1)),
        # A merged key stands where it was written, not in the mapping that takes it over.
        (("copy", "own"), (8, 22)),
        (("copy", "inherited"), (8, 1)),
    ],
)
def test_position(location: tuple[int | str, ...], place: tuple[int, int]) -> None:
    assert position(parse_yaml(DOCUMENT), location) == place


@pytest.mark.parametrize(
    ("location", "steps"),
    [((), 0), (("nested", "deep", "y", 1), 4), (("nested", "deep", "y", 2), 3), (("first", "x"), 1), (("z", "y"), 0)],
)
def test_reaches(location: tuple[int | str, ...], steps: int) -> None:
    assert reaches(parse_yaml(DOCUMENT), location) == steps


@pytest.mark.parametrize(
    ("location", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b", 0, "c"), "a.b[0].c"),
        ((0, "a"), "[0].a"),
        (("a", 1, 2), "a[1][2]"),
        (("pages", "Mercury (planet)", "at"), "pages.Mercury (planet).at"),
    ],
)
def test_as_people_read_it(location: tuple[int | str, ...], text: str) -> None:
    assert shown(location) == text


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
