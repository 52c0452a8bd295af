from pathlib import Path

import pytest

from devkit import errors
from devkit.errors import (
    DevkitError,
    InvalidFileError,
    PartError,
    Problem,
    SetupError,
    StackError,
    UsageError,
    WaitTimeoutError,
)


@pytest.mark.parametrize(
    ("kind", "parent", "code"),
    [
        (DevkitError, Exception, 3),
        (UsageError, DevkitError, 2),
        (InvalidFileError, UsageError, 2),
        (SetupError, DevkitError, 3),
        (StackError, DevkitError, 3),
        (WaitTimeoutError, StackError, 3),
        (PartError, StackError, 3),
    ],
)
def test_the_tree_and_its_exit_codes(kind: type[DevkitError], parent: type[Exception], code: int) -> None:
    assert kind.__base__ is parent
    assert kind.exit_code == code


def test_the_tree_drawn_in_the_module_is_the_whole_tree() -> None:
    public = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert public == {name for name in public if f"{name} " in (errors.__doc__ or "")}
    assert len(public) == 7


def test_an_error_of_the_harness_says_in_its_first_line_what_to_do_next() -> None:
    error = StackError("Kafka ended: no room\nits last lines:\n  no room", hint="see its log")
    assert error.render() == "error: Kafka ended: no room; hint: see its log\nits last lines:\n  no room"


def test_a_part_that_does_not_answer_is_no_matter_of_the_machine() -> None:
    error = PartError("Kafka does not answer", "kafka")
    assert "log of that part" in error.with_hint
    assert "doctor" not in error.with_hint


@pytest.mark.parametrize("kind", [StackError, WaitTimeoutError, SetupError])
def test_one_without_a_hint_of_its_own_names_the_doctor(kind: type[DevkitError]) -> None:
    assert kind("Kafka ended").render() == "error: Kafka ended; hint: `devkit doctor` checks this machine"


def test_a_usage_error_has_its_hint_below_the_places_that_it_names() -> None:
    assert UsageError("a.yaml:3:1: x", hint="write y").render() == "error: a.yaml:3:1: x\nhint: write y"
    assert UsageError("no such name").render() == "error: no such name"


def test_an_invalid_file_names_each_place() -> None:
    error = InvalidFileError(Path("a.yaml"), [Problem(3, 1, "x: is missing"), Problem(9, 4, "y: unknown key")])
    assert str(error) == "a.yaml:3:1: x: is missing\na.yaml:9:4: y: unknown key"
    assert error.path == Path("a.yaml")
    assert error.problems == (Problem(3, 1, "x: is missing"), Problem(9, 4, "y: unknown key"))
