from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.scenario.marks import position, reaches, read_yaml


def write(directory: Path, content: str | bytes) -> Path:
    path = directory / "file.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a:\n\tb: 1\n", r"2:1: not YAML: found character '\t' that cannot start any token"),
        ("a: [1, 2\nb: 3\n", "2:2: not YAML: expected ',' or ']', but got ':'"),
        ("a: {b: 1]\n", "1:9: not YAML: expected ',' or '}', but got ']'"),
        ("a: 1\na: 2\n", '2:1: not YAML: found duplicate key "a" with value "2" (original value: "1")'),
        ("a: 1\n---\nb: 2\n", "2:1: not YAML: but found another document"),
        ("a: *b\n", "1:4: not YAML: found undefined alias 'b'"),
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
def test_position(tmp_path: Path, location: tuple[int | str, ...], place: tuple[int, int]) -> None:
    assert position(read_yaml(write(tmp_path, DOCUMENT)), location) == place


@pytest.mark.parametrize(
    ("location", "steps"),
    [((), 0), (("nested", "deep", "y", 1), 4), (("nested", "deep", "y", 2), 3), (("first", "x"), 1), (("z", "y"), 0)],
)
def test_reaches(tmp_path: Path, location: tuple[int | str, ...], steps: int) -> None:
    assert reaches(read_yaml(write(tmp_path, DOCUMENT)), location) == steps
