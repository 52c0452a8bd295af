"""A start that is tried first, against a guardian made of files: refused, begun, or broken for another reason."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.arm_observation import FirstTry
from devkit.programs.launch import Addition, Launch
from devkit.programs.spark.first_try import try_start

REFUSED = {"event": "failed", "error": "two metrics of one name: a and b", "refused": True}
FAILED = {"event": "failed", "error": "no broker", "refused": False}


@dataclass
class Process:
    """A process that has written what it will, and has ended unless `exit_code` is None."""

    stdout: Path
    stderr: Path
    exit_code: int | None
    killed: int = 0

    def kill_tree(self) -> None:
        self.killed += 1

    def last_words(self, lines: int) -> str:
        return "error: no broker"


@dataclass
class OneProcess:
    """A guardian whose process says these lines."""

    directory: Path
    lines: tuple[dict[str, Any], ...]
    exit_code: int | None
    started: list[tuple[Sequence[str], Process]] = field(default_factory=list)

    def spawn(
        self,
        name: str,
        argv: Sequence[str],
        *,
        logs: Path,
        env: Mapping[str, str],
        split: bool = False,
        scratch: Path | None = None,
        program: bool = False,
    ) -> Process:
        assert split
        assert program
        assert env == {"SPARK": "x"}
        stdout = logs / f"{name}.out"
        stdout.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        process = Process(stdout, logs / f"{name}.log", self.exit_code)
        self.started.append((argv, process))
        return process

    def try_start(self) -> FirstTry:
        launch = Launch(("python", "-m", "pipeline"), {"SPARK": "x"}, first=Addition(("--new", "earliest")))
        return try_start(cast(Guardian, self), launch, self.directory, require_stack=lambda: None)


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
    guardian = OneProcess(tmp_path, lines, exit_code)
    assert guardian.try_start() == expected
    ((argv, process),) = guardian.started
    assert argv == ["python", "-m", "pipeline", "--new", "earliest"]
    assert process.killed == 1


@pytest.mark.parametrize("lines", [(), (FAILED,)])
def test_an_end_for_another_reason_says_nothing_of_the_incident(
    tmp_path: Path, lines: tuple[dict[str, Any], ...]
) -> None:
    guardian = OneProcess(tmp_path, lines, 1)
    with pytest.raises(StackError, match=r"tried first ended with exit code 1, .*: error: no broker") as caught:
        guardian.try_start()
    where = "pipeline-tried-first.out" if lines else "pipeline-tried-first.out and .*pipeline-tried-first.log"
    assert re.fullmatch(f"read its whole log, .*{where}", str(caught.value.hint)), "what has a line"
    assert guardian.started[0][1].killed == 1


def test_a_stack_that_fails_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    def gone() -> None:
        raise StackError("kafka has ended")

    guardian = OneProcess(tmp_path, (), None)
    with pytest.raises(StackError, match="kafka has ended"):
        try_start(cast(Guardian, guardian), Launch((), {"SPARK": "x"}), tmp_path, require_stack=gone)
    assert guardian.started[0][1].killed == 1
