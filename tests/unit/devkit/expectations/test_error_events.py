"""Texts that a log must not have, requests of a rule, and error events: what counts, and what cannot be known."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.base import Finding
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.observe.kafka.error_events import ErrorEvents
from devkit.observe.logs.log_files import LogFiles
from devkit.observe.logs.logs import LoggedException
from tests.unit.devkit.observed import an_audit, an_observation, some_figures

NOT_FOUND, BROKEN = ErrorEvents("revision_not_found", 3, 900), ErrorEvents("malformed_json", 2, 5_000)
LOGGED = "26/03/02 WARN TaskSetManager: Lost executor 1\n26/03/02 WARN Executor: Lost executor 2\n"
FULL = LoggedException(1, "DiskFull", "no space on /data")
IS_FULL, NO_LINE = f"DiskFull: {FULL.message}", "n/a: not observable: it wrote no line"
LOST, NONE = {"text": "Lost executor"}, {"at_most": 0}


def stated(argument: dict[str, Any]) -> Expectation:
    return Expectation.model_validate({"error_events": argument})


@pytest.mark.parametrize(
    ("argument", "expected", "measured", "holds"),
    [
        ({"type": "revision_not_found"}, "at least 1, of type revision_not_found", "3, the largest of 900 bytes", True),
        ({"at_least": 6}, "at least 6", "5, the largest of 5,000 bytes", False),
        ({"at_most": 5, "max_size": "4KiB"}, "at most 5, none larger than 4KiB", "5, the largest of 5,000 by", False),
        ({"type": "malformed_json", "max_size": 5000}, None, "2, the largest of 5,000 bytes", True),
        ({"type": "x"}, None, "0; there are 3 of revision_not_found, 2 of malformed_json", False),
        ({"type": "x", "at_most": 0}, None, "0; there are 3 of revision_not_found, 2 of malformed_json", True),
        ({"type": "x", "max_size": 9}, None, "n/a: there is none to measure (0; there are 3 of revision_not", None),
    ],
)
def test_counts_and_sizes(argument: dict[str, Any], expected: str | None, measured: str, holds: bool | None) -> None:
    finding = stated(argument).judge(an_observation(error_events=(NOT_FOUND, BROKEN)))
    assert finding.holds is holds
    assert finding.measured.startswith(measured)
    assert expected in (None, finding.expected)


@pytest.mark.parametrize(
    ("changes", "argument", "window"),
    [
        ({}, {"at_most": 3}, None),
        ({"drained": False}, {"at_most": 3}, "arm"),
        ({"drained": False}, {"at_least": 3}, None),
        ({"drained": False}, {"at_least": 4}, "arm"),
        ({"audit": an_audit(timed_out=1)}, {"at_least": 3}, "commit"),
    ],
)
def test_depends_on_time_where_not_all_have_ended(
    changes: dict[str, Any], argument: dict[str, Any], window: Window | None
) -> None:
    assert stated(argument).depends_on_time(an_observation(error_events=(NOT_FOUND,), **changes)) == window


def test_what_there_is_none_of_has_no_size() -> None:
    with pytest.raises(ValidationError, match="no error event has a size"):
        stated({"at_most": 0, "max_size": "1KiB"})


def met(requests: int, rule: str = "slow page") -> Evidence:
    return Evidence(
        fault=rule,
        fired=requests > 0,
        requests=requests,
        completed=requests,
        max_content_length_bytes=None,
        max_wire_bytes=0,
        max_real_bytes=0,
        max_duration_s=0.1,
        by_status={},
    )


@pytest.mark.parametrize(
    ("bounds", "evidence", "of_all", "measured", "holds"),
    [
        ({"at_least": 3}, (met(3),), 9, "3 of 9 requests", True),
        ({"at_least": 3}, (met(2), met(5, "another")), 9, "2 of 9 requests", False),
        ({"at_most": 3}, (met(3),), 9, "3 of 9 requests", True),
        ({"at_most": 3}, (met(4),), 9, "4 of 9 requests", False),
        ({"at_most": 0}, (met(0),), 9, "0 of 9 requests", True),
        ({"at_most": 3}, (met(0),), 0, "no request came", False),
        ({"at_most": 3}, (), 9, "the arm had no rule 'slow page'", False),
        (
            {"at_most": 3},
            (TimelineEvidence(fault="slow page", fired=True, asked="pause: {part: kafka}", acted=True, did="paused"),),
            9,
            "the arm had no rule 'slow page'",
            False,
        ),
    ],
)
def test_it_counts_the_requests_of_one_rule(
    bounds: dict[str, int], evidence: tuple[Any, ...], of_all: int, measured: str, holds: bool
) -> None:
    expectation = Expectation.model_validate({"requests": {"rule": "slow page", **bounds}})
    observation = an_observation(evidence=evidence, figures=some_figures(requests=of_all))
    finding = expectation.judge(observation)
    assert (finding.measured, finding.holds) == (measured, holds)


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
