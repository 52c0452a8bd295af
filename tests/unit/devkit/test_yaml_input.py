from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.yaml_input import read_yaml, refused
from located_config.problem import Problem


def write(directory: Path, content: str | bytes) -> Path:
    path = directory / "file.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "a:\n\tb: 1\n",
            r"2:1: not YAML: found character '\t' that cannot start any token; "
            "indent with spaces; YAML takes no tab there",
        ),
        (
            "a: [1, 2\nb: 3\n",
            "2:2: not YAML: expected ',' or ']', but got ':'; the `[` of line 1, column 4 is not closed before that",
        ),
        ("a: {b: 1]\n", "1:9: not YAML: expected ',' or '}', but got ']'"),
        ("a: 1\na: 2\n", '2:1: not YAML: found duplicate key "a" with value "2" (original value: "1")'),
        ("a: 1\n---\nb: 2\n", "2:1: not YAML: but found another document"),
        ("a: *b\n", "1:4: not YAML: found undefined alias; `*` begins an alias in YAML; write the value in quotes"),
        ("", "1:1: the file is empty; it must be a mapping of keys to values"),
        ("# only a comment\n", "1:1: the file is empty; it must be a mapping of keys to values"),
        ("- a\n- b\n", "1:1: the file is a list; it must be a mapping of keys to values"),
        ("hello\n", "1:1: the file is a single value; it must be a mapping of keys to values"),
        (bytes(range(128, 256)), "1:1: not UTF-8 text: invalid start byte at byte 0"),
        ("a: 1\n".encode("utf-16"), "1:1: not UTF-8 text: invalid start byte at byte 0"),
        (
            "a: \0\n",
            "1:1: not YAML: unacceptable character #x0000: special characters are not allowed "
            'in "<unicode string>", position 3',
        ),
        ("a: " + "[" * 500, "1:1: not YAML that can be read: nested too deeply"),
    ],
)
def test_what_is_no_mapping_is_refused_with_its_place(tmp_path: Path, content: str | bytes, expected: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InvalidFileError) as caught:
        read_yaml(path)
    assert str(caught.value) == f"{path}:{expected}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.yaml cannot be read: No such file or directory$"):
        read_yaml(tmp_path / "none.yaml")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    # A directory: the file mode would not keep the superuser out.
    with pytest.raises(UsageError, match=r"cannot be read: Is a directory$"):
        read_yaml(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert list(read_yaml(write(tmp_path, b"\xef\xbb\xbfa: 1\n"))) == ["a"]


def test_problems_are_told_once_and_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a: 1\nb: {c: 2}\n")
    late, early = Problem(("b", "c"), "wrong", "mend it"), Problem(("a",), "worse")
    assert str(refused(path, read_yaml(path), [late, early, late])).splitlines() == [
        f"{path}:1:1: a: worse",
        f"{path}:2:5: b.c: wrong; mend it",
    ]
