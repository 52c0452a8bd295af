"""Files that the kit reads and writes, and the extensions that they ask for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.extensions import GROUPS, load_extensions_of, require_here
from devkit.owner_file import write_for_owner
from devkit.yaml_input import read_yaml, refused
from located_config import extension, registry
from located_config.problem import Problem
from located_config.registry import Addition
from mockapi import inputs as of_mock
from pipeline.jobs import extensions as of_pipeline

BODY = Addition("fault of the mock", "body", "my_fault", "/home/me/my_fault.py:7")


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


@pytest.mark.parametrize("mode", [None, 0o644])
def test_the_owner_alone_may_read_it(tmp_path: Path, mode: int | None) -> None:
    file = tmp_path / "pipeline.yaml"
    if mode is not None:
        file.write_text("something that was longer before")
        file.chmod(mode)
    write_for_owner(file, b"password: x")
    assert file.read_bytes() == b"password: x"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def body_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the fault `body` were of an extension."""
    monkeypatch.setattr(registry, "_additions", [BODY])
    monkeypatch.setattr(extension, "_loaded", {})


def test_the_kit_loads_what_each_of_the_other_two_loads() -> None:
    assert {of_mock.GROUP, of_pipeline.GROUP} < set(GROUPS)


@pytest.mark.usefixtures("body_added")
def test_what_an_image_does_not_have_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"fault of the mock 'body' is added at /home/me/my_fault.py:7, and the image"):
        require_here("fault of the mock", ["latency", "body"], where="the image")


@pytest.mark.usefixtures("body_added")
def test_what_it_has_is_not() -> None:
    require_here("fault of the mock", ["latency"], where="the image")
    require_here("job", ["body"], where="the image")


@pytest.mark.usefixtures("body_added")
@pytest.mark.parametrize("written", ["./my_fault.py", None, {"a": 1}])
def test_what_is_no_list_is_left_to_the_model(written: Any) -> None:
    document: Any = SimpleNamespace(get=lambda _key: written)
    load_extensions_of(Path("scenario.yaml"), document)
    assert extension._loaded == {}
