"""When an arm ends, and by what."""

from typing import Any

import pytest

from devkit.observe.arm_end import EndByCondition, EndByDeadline
from devkit.scenario.arm.until import arm_end
from devkit.scenario.model import Until


def ended_by(
    *conditions: dict[str, Any], drained: bool = False, restarts: int = 0, replays: int = 0, now_s: float = 0
) -> str | None:
    until = Until.model_validate({"any": conditions, "deadline": "60s"})
    end = arm_end(until, {"drained": drained, "restarts": restarts, "replays": replays}, now_s, deadline_s=60)
    return end and end.text


@pytest.mark.parametrize(("restarts", "text"), [(0, None), (1, None), (2, "restarts 2"), (3, "restarts 3")])
def test_restarts(restarts: int, text: str | None) -> None:
    assert ended_by({"restarts": 2}, restarts=restarts) == text


@pytest.mark.parametrize(("replays", "text"), [(0, None), (1, None), (2, "replays 2")])
def test_replays(replays: int, text: str | None) -> None:
    assert ended_by({"replays": 2}, replays=replays) == text


@pytest.mark.parametrize("drained", [True, False])
def test_drained(drained: bool) -> None:
    assert ended_by({"drained": True}, drained=drained) == ("drained" if drained else None)


def test_any_of_them_is_enough() -> None:
    assert ended_by({"drained": True}, {"restarts": 9}, {"replays": 1}, replays=1) == "replays 1"


def test_all_of_an_item_has_to_be_reached() -> None:
    both = {"restarts": 2, "replays": 1}
    assert ended_by({"drained": True}, both, restarts=2) is None
    assert ended_by({"drained": True}, both, restarts=1, replays=1) is None
    assert ended_by({"drained": True}, both, restarts=2, replays=1) == "restarts 2 and replays 1"


def test_what_is_not_asked_for_does_not_end_it() -> None:
    assert ended_by({"drained": True}, restarts=5, replays=2) is None


@pytest.mark.parametrize(("now_s", "text"), [(59.9, None), (60.0, None), (60.1, "deadline of 60s")])
def test_the_deadline_ends_what_reaches_no_condition(now_s: float, text: str | None) -> None:
    assert ended_by({"drained": True}, now_s=now_s) == text


def test_a_condition_that_is_reached_comes_before_the_deadline() -> None:
    assert ended_by({"drained": True}, drained=True, now_s=61) == "drained"


def test_what_it_was_is_a_value() -> None:
    until = Until.model_validate({"any": [{"restarts": 1}], "deadline": "60s"})
    nothing = {"drained": 0, "restarts": 0, "replays": 0}
    assert arm_end(until, {"drained": 0, "restarts": 2, "replays": 0}, 1, deadline_s=60) == EndByCondition(
        reached={"restarts": 2}
    )
    assert arm_end(until, nothing, 9, deadline_s=8) == EndByDeadline(deadline_s=8)
    assert arm_end(until, nothing, 9, deadline_s=float("inf")) is None
