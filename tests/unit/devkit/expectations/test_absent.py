"""Texts and exceptions that a program's log must not have: a log without a line says nothing of them."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.base import Finding
from devkit.observe.logs.log_files import LogFiles
from devkit.observe.logs.logs import LoggedException
from tests.unit.devkit.observed import an_observation

LOGGED = "26/03/02 WARN TaskSetManager: Lost executor 1\n26/03/02 WARN Executor: Lost executor 2\n"
FULL = LoggedException(1, "DiskFull", "no space on /data")
IS_FULL, NO_LINE = f"DiskFull: {FULL.message}", "n/a: not observable: it wrote no line"
LOST, NONE = {"text": "Lost executor"}, {"at_most": 0}


def judged(stated: dict[str, Any], log: str | None, directory: Path, **changes: Any) -> Finding:
    file = directory / "program-1.log"
    if log is not None:
        file.write_text(log)
    return Expectation.model_validate(stated).judge(an_observation(log_files=LogFiles((file,)), **changes))


@pytest.mark.parametrize(
    ("pattern", "log", "expected", "measured", "holds"),
    [
        (LOST, LOGGED, "at least 1 of 'Lost executor'", "2", True),
        (LOST, "else\n", "at least 1 of 'Lost executor'", "0", False),
        (LOST | {"class": "TaskSetManager"}, LOGGED, "at least 1 of 'Lost executor' of TaskSetManager", "1", True),
        (LOST | {"class": "BlockManager"}, LOGGED, "at least 1 of 'Lost executor' of BlockManager", "0", False),
        (LOST | NONE, LOGGED, "at most 0 of 'Lost executor'", "2", False),
        (LOST | NONE, "else\n", "at most 0 of 'Lost executor'", "0", True),
        (LOST | NONE, "", "at most 0 of 'Lost executor'", NO_LINE, None),
        (LOST | NONE, None, "at most 0 of 'Lost executor'", NO_LINE, None),
        (LOST, None, "at least 1 of 'Lost executor'", NO_LINE, None),
    ],
)
def test_texts(
    pattern: dict[str, Any], log: str | None, expected: str, measured: str, holds: bool | None, tmp_path: Path
) -> None:
    finding = judged({"log": pattern}, log, tmp_path)
    assert (finding.expected, finding.measured, finding.holds) == (expected, measured, holds)


@pytest.mark.parametrize(
    ("pattern", "exceptions", "log", "expected", "measured", "holds"),
    [
        ({"class": "DiskFull", "at_most": 0}, (), "a line", "at most 0 of DiskFull", "no exception", True),
        ({"class": "DiskFull", "at_most": 0}, (FULL,), "a line", "at most 0 of DiskFull", IS_FULL, False),
        ({"class": "DiskFull", "at_most": 0}, (), "", "at most 0 of DiskFull", NO_LINE, None),
        ({"message": "no space", "at_most": 0}, (FULL,), "a", "at most 0 of …no space…", IS_FULL, False),
        ({"message": "no space"}, (FULL,), "a", "…no space…", IS_FULL, True),
        ({"message": "no time"}, (FULL,), "a", "…no time…", IS_FULL, False),
        ({"class": "DiskFull", "at_least": 2}, (FULL,), "a", "at least 2 of DiskFull", IS_FULL, False),
    ],
)
def test_exceptions(
    pattern: dict[str, Any],
    exceptions: tuple[LoggedException, ...],
    log: str,
    expected: str,
    measured: str,
    holds: bool | None,
    tmp_path: Path,
) -> None:
    finding = judged({"exception": pattern}, log, tmp_path, exceptions=exceptions)
    assert (finding.expected, finding.measured, finding.holds) == (expected, measured, holds)


@pytest.mark.parametrize("stated", [{"log": LOST | NONE}, {"exception": {"class": "X", "at_most": 0}}])
def test_a_program_that_crashed_for_good_may_have_had_more_to_write(stated: dict[str, Any], tmp_path: Path) -> None:
    finding = judged(stated, "a line\n", tmp_path, ended_with=1)
    assert finding.holds is None
    assert finding.measured.endswith("until it ended with exit code 1 and was not started again")


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"log": {}}, "write either event or text"),
        ({"log": {"event": "a", "text": "b"}}, "write either event or text"),
        ({"log": {"event": "a", "class": "B"}}, "class 'B' belongs to a text: an event has no class"),
        ({"log": {"text": ""}}, "at least 1 character"),
        ({"exception": {}}, "write class, message or both"),
    ],
)
def test_a_pattern_that_says_nothing(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate(stated)
