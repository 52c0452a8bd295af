"""Requests of a rule, and error events by type and size: what counts, and what cannot be measured."""

from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.observe.kafka.error_events import ErrorEvents
from tests.unit.devkit.observed import an_audit, an_observation, some_figures

NOT_FOUND, BROKEN = ErrorEvents("revision_not_found", 3, 900), ErrorEvents("malformed_json", 2, 5_000)


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
