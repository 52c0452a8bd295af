from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.observe.logs.first_errors import Complaint
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, ProgramResult, Result
from devkit.report.run_record import RunRecord, read_run
from tests.unit.devkit.observed import an_audit, some_figures
from tests.unit.devkit.report import storm

DRAINED = EndByCondition(reached={"drained": 1})
STILL = TimelineEvidence(
    fault="still", fired=True, asked="pause: {part: kafka}", acted=True, did="it was silent", from_s=8, to_s=13
)
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


def expectation(name: str, expected: str, measured: str, holds: bool | None, **more: Any) -> ExpectationResult:
    return ExpectationResult(name=name, expected=expected, measured=measured, holds=holds, **more)


LOST = expectation("audit", "clean", "lost 2", False)


def an_arm(*expectations: tuple[str, str, str, bool], **changes: Any) -> ArmResult:
    values: dict[str, Any] = {
        "holds": all(holds for *_, holds in expectations),
        "expectations": tuple(expectation(*one) for one in expectations),
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


def a_program(name: str = "reader", run: str = "consumer", **changes: Any) -> ProgramResult:
    """One of several, which ran until the arm's end."""
    values: dict[str, Any] = {"name": name, "run": run, "started": True, "restarts": 0, "exit_codes": ()}
    values |= {"is_over": False, "failures": (), "exceptions": ()}
    return ProgramResult.model_validate(values | changes)


def with_arm(result: Result, arm: str = "fixed", **changes: Any) -> Result:
    return result.model_copy(update={"arms": result.arms | {arm: result.arms[arm].model_copy(update=changes)}})


def result_of(run: RunRecord) -> Result:
    assert run.result is not None
    return run.result


def with_result(run: RunRecord, **changes: Any) -> RunRecord:
    return replace(run, result=result_of(run).model_copy(update=changes))


def with_arm_result(run: RunRecord, arm: str = "fixed", **changes: Any) -> RunRecord:
    return replace(run, result=with_arm(result_of(run), arm, **changes))


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


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """The storm as a finished run has left it."""
    return read_run(storm.write_run(tmp_path_factory.mktemp("run")))


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
