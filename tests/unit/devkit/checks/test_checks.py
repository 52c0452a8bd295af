"""Each check: when it holds, when not, and what it says was measured."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.checks import CHECKS, Bound, Expectation, Finding
from devkit.observe.arm import ArmObservation
from devkit.observe.logs import LoggedException
from tests.unit.devkit.observed import an_audit, an_observation

TOO_LARGE = LoggedException(1, "RecordTooLargeException", "The message is 23048294 bytes when serialized")
TOO_LARGE_AGAIN = LoggedException(2, "RecordTooLargeException", "The message is 23048294 bytes when serialized")
OTHER = LoggedException(2, "TimeoutException", "Topic not present in metadata")


def judge(expectation: dict[str, Any], observation: ArmObservation) -> Finding:
    return Expectation.model_validate(expectation).judge(observation)


@pytest.mark.parametrize(
    ("expectation", "changes", "expected", "measured", "holds"),
    [
        ({"restarts": 2}, {"restarts": 2}, "2", "2", True),
        ({"restarts": 2}, {"restarts": 3}, "2", "3", False),
        ({"restarts": {"at_least": 2}}, {"restarts": 1}, "at least 2", "1", False),
        ({"restarts": {"at_least": 2}}, {"restarts": 2}, "at least 2", "2", True),
        ({"restarts": {"at_least": 1, "at_most": 3}}, {"restarts": 4}, "at least 1 and at most 3", "4", False),
        ({"replays": {"at_most": 1}}, {"replays": 2}, "at most 1", "2", False),
        ({"replays": 0}, {"replays": 0}, "0", "0", True),
        ({"replayed_offsets": {"at_least": 2}}, {"replayed_offsets": 100}, "at least 2", "100", True),
        ({"replayed_offsets": 0}, {"replayed_offsets": 1}, "0", "1", False),
        ({"past_failed_batch": 0}, {"past_failed_batch": 0}, "0", "0", True),
        ({"past_failed_batch": 0}, {"past_failed_batch": 5}, "0", "5", False),
        ({"past_failed_batch": 0}, {"past_failed_batch": None}, "0", "no batch failed", False),
        ({"claim_checks": 1}, {"audit": an_audit(claim_checks=1)}, "1", "1", True),
        ({"claim_checks": 1}, {"audit": an_audit()}, "1", "0", False),
        ({"drained": True}, {"drained": True}, "true", "committed 160 of 161", True),
        ({"drained": True}, {"drained": False}, "true", "committed 160 of 161", False),
        ({"drained": False}, {"drained": False}, "false", "committed 160 of 161", True),
        ({"drained": False}, {"drained": True}, "false", "committed 160 of 161", False),
        (
            {"exception": {"class": "RecordTooLargeException", "message": "23048294"}},
            {"exceptions": (OTHER, TOO_LARGE, TOO_LARGE_AGAIN)},
            "RecordTooLargeException: …23048294…",
            "RecordTooLargeException: The message is 23048294 bytes when serialized (2 times)",
            True,
        ),
        (
            {"exception": {"class": "RecordTooLargeException"}},
            {"exceptions": (TOO_LARGE,)},
            "RecordTooLargeException",
            "RecordTooLargeException: The message is 23048294 bytes when serialized",
            True,
        ),
        (
            # The near miss is shown: same class, other figure.
            {"exception": {"class": "RecordTooLargeException", "message": "23048295"}},
            {"exceptions": (TOO_LARGE, OTHER)},
            "RecordTooLargeException: …23048295…",
            "RecordTooLargeException: The message is 23048294 bytes when serialized",
            False,
        ),
        (
            {"exception": {"class": "RecordTooLargeException"}},
            {"exceptions": (OTHER,)},
            "RecordTooLargeException",
            "TimeoutException: Topic not present in metadata",
            False,
        ),
        (
            {"exception": {"class": "RecordTooLargeException"}},
            {},
            "RecordTooLargeException",
            "no exception",
            False,
        ),
        ({"audit": "clean"}, {}, "clean", "clean: 161 in = 150 out + 4 errors + 7 filtered", True),
        (
            {"audit": "clean"},
            {"audit": an_audit(outputs=140, deferred=2, pending=8)},
            "clean",
            "clean: 161 in = 140 out + 4 errors + 7 filtered + 2 deferred + 8 still in the source",
            True,
        ),
        (
            {"audit": "clean"},
            {"audit": an_audit(outputs=148, lost=2, out_of_order=1)},
            "clean",
            "lost 2, out_of_order 1",
            False,
        ),
        ({"audit": "clean"}, {"audit": an_audit(duplicated=3)}, "clean", "duplicated 3", False),
        (
            {"audit": "clean"},
            {"audit": an_audit(duplicated=3), "restarts": 1},
            "clean",
            "clean: 161 in = 150 out + 4 errors + 7 filtered",
            True,
        ),
        (
            {"audit": "clean"},
            {"audit": an_audit(conflicting=1), "restarts": 1},
            "clean",
            "conflicting 1",
            False,
        ),
    ],
)
def test_check(expectation: dict[str, Any], changes: dict[str, Any], expected: str, measured: str, holds: bool) -> None:
    (name,) = expectation
    assert judge(expectation, an_observation(**changes)) == Finding(name, expected, measured, holds)


def test_every_check_is_tried_both_ways() -> None:
    (table,) = (mark.args[1] for mark in test_check.pytestmark)
    tried = {(name, row[-1]) for row in table for name in row[0]}
    assert tried == {(name, holds) for name in CHECKS for holds in (True, False)}


def test_an_audit_of_nothing_shows_nothing() -> None:
    nothing = an_audit(inputs=0, outputs=0, errors=0, filtered=0)
    assert judge({"audit": "clean"}, an_observation(audit=nothing)) == Finding("audit", "clean", "no inputs", False)


def test_an_audit_of_events_that_were_never_taken_shows_nothing() -> None:
    untouched = an_audit(outputs=0, errors=0, filtered=0, pending=161)
    finding = judge({"audit": "clean"}, an_observation(audit=untouched))
    assert not finding.holds
    assert finding.measured == "nothing was committed: all 161 inputs are still in the source"


@pytest.mark.parametrize("problem", ["lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed"])
@pytest.mark.parametrize("restarts", [0, 1])
def test_what_no_restart_excuses(problem: str, restarts: int) -> None:
    finding = judge({"audit": "clean"}, an_observation(audit=an_audit(**{problem: 1}), restarts=restarts))
    assert (finding.holds, finding.measured) == (False, f"{problem} 1")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "write at_least, at_most or a number"),
        ({"at_least": 3, "at_most": 1}, "no number is at least 3 and at most 1"),
        (True, "True is no bound; write a number"),
        ("2", "'2' is no bound; write a number"),
        ({"atleast": 1}, "Extra inputs are not permitted"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(Bound).validate_python(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "exactly one check"),
        ({"restarts": 1, "replays": 1}, "exactly one check"),
        ({"restarts": None}, "restarts says nothing"),
        ({"drained": None}, "drained says nothing"),
        ({"audit": "dirty"}, "Input should be 'clean'"),
        ({"exception": {"message": "x"}}, "Field required"),
    ],
)
def test_an_expectation_is_exactly_one_check_with_its_argument(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate(value)
