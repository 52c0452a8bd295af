from pathlib import Path

import pytest

from located_config.yaml_file import UnfitError, parse_yaml, read_mapping, read_yaml

NO_TAB = "indent with spaces; YAML takes no tab there"
NOT_CLOSED = "the `[` of line 1, column 4 is not closed before that"


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
