from datetime import UTC, datetime
from typing import Any

import pytest

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import Evidence
from devkit.observe.logs.first_errors import Complaint
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, Result
from tests.unit.devkit.observed import an_audit, some_figures

DRAINED = EndByCondition(reached={"drained": 1})
TOO_LARGE = (
    "RecordTooLargeException: The message is 23048294 bytes when serialized which is larger than 20971520, "
    "which is the value of the max.request.size configuration. (3 times)"
)


def fired(**changes: Any) -> Evidence:
    values = {
        "fault": "huge page",
        "fired": True,
        "requests": 6,
        "completed": 6,
        "max_content_length_bytes": 76_412,
        "max_wire_bytes": 76_412,
        "max_real_bytes": 17_300_041,
        "max_duration_s": 0.312,
    }
    return Evidence.model_validate(values | changes)


def an_arm(*expectations: tuple[str, str, str, bool], **changes: Any) -> ArmResult:
    values: dict[str, Any] = {
        "holds": all(holds for *_, holds in expectations),
        "expectations": tuple(
            ExpectationResult(name=name, expected=expected, measured=measured, holds=holds)
            for name, expected, measured, holds in expectations
        ),
        "end": DRAINED,
        "restarts": 0,
        "replays": 0,
        "replayed_offsets": 0,
        "audit": an_audit(),
        "figures": some_figures(),
        "exceptions": (),
        "duration_s": 14.26,
    }
    values |= changes
    return ArmResult.model_validate(values | {"ended_by": values["end"].text})


def a_good_result() -> Result:
    return Result(
        scenario="an-incident",
        title="One record is larger than the sink will take, and the job restarts into it for ever",
        seed=7,
        outcome="reproduced and fixed",
        exit_code=0,
        reasons=(),
        arms={
            "incident": an_arm(
                ("restarts", "at least 2", "2", True),
                ("exception", "RecordTooLargeException: …23048294…", TOO_LARGE, True),
                end=EndByCondition(reached={"replays": 2}),
                duration_s=31.04,
            ),
            "fixed": an_arm(
                ("drained", "true", "committed 161 of 161", True),
                ("audit", "clean", "clean: 161 in = 150 out + 4 errors + 7 filtered", True),
            ),
        },
        config_difference={
            "content_limit.measure": {"incident": "content_length", "fixed": "decoded"},
            "record_limit.policy": {"incident": "none", "fixed": "serialized"},
        },
        fault_evidence={"incident": (fired(),), "fixed": (fired(requests=2, max_content_length_bytes=None),)},
        began=datetime(2026, 11, 21, 10, 0, tzinfo=UTC),
        duration_s=52.5,
        versions={"python": "3.11.2"},
        repeat="devkit scenario run an-incident --seed 7",
    )


@pytest.fixture
def good() -> Result:
    """A run as it is hoped for."""
    return a_good_result()


@pytest.fixture
def failed(good: Result) -> Result:
    """The fix does not hold: two events are lost."""
    lost = an_audit(
        outputs=148,
        lost=2,
        examples=("lost: page 'X', event 0b9e, source t/0/17: committed, and never emitted", "lost: source t/0/99"),
    )
    fixed = an_arm(
        ("drained", "true", "committed 161 of 161", True),
        ("audit", "clean", "lost 2", False),
        audit=lost,
        complaints=(
            Complaint(kind="warning", event="limits_disagree", text="the topic takes 1MiB; raise it", at_s=3.14),
            Complaint(kind="error", event="failed", text="query failed: no room", at_s=9.5, process=2),
        ),
    )
    return good.model_copy(
        update={
            "outcome": "fix does not hold",
            "exit_code": 1,
            "reasons": ("fixed: audit: expected clean, measured lost 2",),
            "arms": good.arms | {"fixed": fixed},
        }
    )
