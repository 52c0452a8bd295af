"""A start that is tried first, against a guardian made of files: refused, begun, or broken for another reason."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.arm_observation import FirstTry
from devkit.programs.launch import Addition, Launch
from devkit.programs.spark.first_try import try_start
from tests.unit.devkit.programs.file_guardian import FileGuardian

REFUSED = {"event": "failed", "error": "two metrics of one name: a and b", "refused": True}
FAILED = {"event": "failed", "error": "no broker", "refused": False}


def tried(guardian: FileGuardian, require_stack: Callable[[], None] = lambda: None) -> FirstTry:
    launch = Launch(("python", "-m", "pipeline"), {"SPARK": "x"}, first=Addition(("--new", "earliest")))
    return try_start(cast(Guardian, guardian), launch, guardian.directory, require_stack=require_stack)


@pytest.mark.parametrize(
    ("lines", "exit_code", "expected"),
    [
        (({"event": "configuration"}, REFUSED), 2, FirstTry("two metrics of one name: a and b")),
        (({"event": "configuration"}, {"event": "started"}), None, FirstTry(None)),
        # Said, and not ended yet.
        ((REFUSED,), None, FirstTry("two metrics of one name: a and b")),
        # It began, so whatever ended it then was no refusal.
        (({"event": "started"}, FAILED), 1, FirstTry(None)),
    ],
)
def test_what_came_of_it(
    tmp_path: Path, lines: tuple[dict[str, Any], ...], exit_code: int | None, expected: FirstTry
) -> None:
    guardian = FileGuardian(tmp_path, lines=lines, exit_code=exit_code)
    assert tried(guardian) == expected
    (process,) = guardian.started
    assert process.argv == ["python", "-m", "pipeline", "--new", "earliest"]
    assert (process.env, process.killed) == ({"SPARK": "x"}, 1)


@pytest.mark.parametrize("lines", [(), (FAILED,)])
def test_an_end_for_another_reason_says_nothing_of_the_incident(
    tmp_path: Path, lines: tuple[dict[str, Any], ...]
) -> None:
    guardian = FileGuardian(tmp_path, lines=lines, exit_code=1)
    with pytest.raises(StackError, match=r"tried first ended with exit code 1, .*: error: no such topic") as caught:
        tried(guardian)
    where = "pipeline-tried-first.out" if lines else "pipeline-tried-first.out and .*pipeline-tried-first.log"
    assert re.fullmatch(f"read its whole log, .*{where}", str(caught.value.hint)), "what has a line"
    assert guardian.started[0].killed == 1


def test_a_stack_that_fails_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    def gone() -> None:
        raise StackError("kafka has ended")

    guardian = FileGuardian(tmp_path)
    with pytest.raises(StackError, match="kafka has ended"):
        tried(guardian, gone)
    assert guardian.started[0].killed == 1
