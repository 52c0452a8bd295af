"""When an arm ends, and by what."""

from typing import Any

import pytest
from pydantic import ValidationError

from devkit.observe.arm_end import EndByCondition, EndByDeadline
from devkit.observe.samples.metrics import Series
from devkit.play.arm.until import ArmStatus, arm_end
from devkit.scenario.end_condition import Condition, Until


def ended_by(*conditions: dict[str, Any], now_s: float = 0, **status: Any) -> str | None:
    until = Until.model_validate({"any": conditions, "deadline": "60s"})
    end = arm_end(until, ArmStatus(elapsed_s=now_s, **status), "html", deadline_s=60)
    return end and end.text


def test_any_of_them_is_enough() -> None:
    assert ended_by({"drained": True}, {"restarts": 9}, {"replays": 1}, replays=1) == "replays 1"


def test_all_of_an_item_has_to_be_reached() -> None:
    both = {"restarts": 2, "replays": 1}
    assert ended_by({"drained": True}, both, restarts=2) is None
    assert ended_by({"drained": True}, both, restarts=1, replays=1) is None
    assert ended_by({"drained": True}, both, restarts=2, replays=1) == "restarts 2 and replays 1"


def test_what_it_was_is_a_value() -> None:
    until = Until.model_validate({"any": [{"restarts": 1}], "deadline": "60s"})
    nothing = ArmStatus(elapsed_s=9)
    restarted = ArmStatus(restarts=2, elapsed_s=1)
    assert arm_end(until, restarted, "", deadline_s=60) == EndByCondition(reached={"restarts": 2})
    assert arm_end(until, nothing, "", deadline_s=8) == EndByDeadline(deadline_s=8)
    assert arm_end(until, nothing, "", deadline_s=float("inf")) is None


LAG: Series = ("lag", frozenset({("partition", "0")}))
LAG_1: Series = ("lag", frozenset({("partition", "1")}))
OF_SECOND, NO_LAG = {"name": "lag", "labels": {"partition": "1"}}, {"name": "lag", "at_most": 0}
CAUGHT_UP = {"html": {LAG: 0}}


@pytest.mark.parametrize(
    ("condition", "status", "text"),
    [
        *(({"restarts": 2}, {"restarts": count}, None) for count in (0, 1)),
        *(({"restarts": 2}, {"restarts": count}, f"restarts {count}") for count in (2, 3)),
        *(({"replays": 2}, {"replays": count}, None) for count in (0, 1)),
        ({"replays": 2}, {"replays": 2}, "replays 2"),
        ({"drained": True}, {"drained": True}, "drained"),
        # What is not asked for does not end it.
        ({"drained": True}, {"drained": False, "restarts": 5, "replays": 2}, None),
        # The deadline ends what reaches no condition.
        *(({"drained": True}, {"now_s": now_s}, None) for now_s in (59.9, 60.0)),
        ({"drained": True}, {"now_s": 60.1}, "deadline of 60s"),
        ({"drained": True}, {"now_s": 61, "drained": True}, "drained"),
        ({"gave_up": True}, {}, None),
        ({"gave_up": True}, {"gave_up": True}, "gave up"),
        ({"elapsed": "30s"}, {"now_s": 29.9}, None),
        ({"elapsed": "30s"}, {"now_s": 30.04}, "elapsed 30s"),
        ({"elapsed": "30s", "drained": True}, {"now_s": 31, "drained": False}, None),
        ({"elapsed": "30s", "drained": True}, {"now_s": 31, "drained": True}, "drained and elapsed 31s"),
        ({"log": {"event": "waiting"}}, {"log": {"html": {"waiting": 1}}}, "log waiting 1"),
        ({"log": {"event": "waiting", "at_least": 2}}, {"log": {"html": {"waiting": 1}}}, None),
        ({"log": {"event": "read", "program": "reader"}}, {"log": {"html": {"read": 1}}}, None),
        ({"log": {"event": "read", "program": "reader"}}, {"log": {"reader": {"read": 1}}}, "log read 1"),
        ({"log": [{"event": "a"}, {"event": "b"}]}, {"log": {"html": {"a": 1}}}, None),
        ({"metric": {"name": "lag", "at_least": 5}}, {}, None),
        ({"metric": {"name": "lag", "at_least": 5}}, {"metrics": {"html": {LAG: 2.0, LAG_1: 3.0}}}, "metric lag 5"),
        ({"metric": OF_SECOND | {"at_least": 5}}, {"metrics": {"html": {LAG: 9, LAG_1: 3}}}, None),
        ({"metric": NO_LAG, "restarts": 1}, {"metrics": CAUGHT_UP}, None),
        ({"metric": NO_LAG, "restarts": 1}, {"metrics": CAUGHT_UP, "restarts": 1}, "restarts 1 and metric lag 0"),
        ({"metric": NO_LAG | {"program": "apply"}}, {"metrics": CAUGHT_UP}, None),
        ({"metric": NO_LAG | {"program": "apply"}}, {"metrics": {"apply": {LAG: 0}}}, "metric lag 0"),
        ({"running_for": "10s"}, {"now_s": 40}, None),
        ({"running_for": "10s"}, {"now_s": 40, "running_for_s": 9.9}, None),
        ({"running_for": "10s"}, {"now_s": 40, "running_for_s": 10.0}, "running for 10s"),
    ],
)
def test_what_ends_it(condition: dict[str, Any], status: dict[str, Any], text: str | None) -> None:
    assert ended_by(condition, **status) == text


NESTED = {"elapsed": "5s", "any": [{"restarts": 1}, {"all": [{"replays": 2}, {"any": [{"drained": True}]}]}]}


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"now_s": 6}, None),
        ({"now_s": 4, "restarts": 1}, None),
        ({"now_s": 6, "restarts": 1}, "elapsed 6s and restarts 1"),
        ({"now_s": 6, "replays": 2}, None),
        ({"now_s": 6, "drained": True}, None),
        ({"now_s": 6, "replays": 2, "drained": True}, "elapsed 6s and replays 2 and drained"),
    ],
)
def test_conditions_in_conditions(status: dict[str, Any], text: str | None) -> None:
    assert ended_by(NESTED, **status) == text


def test_all_instead_of_any_at_the_top() -> None:
    until = Until.model_validate({"all": [{"restarts": 1}, {"replays": 1}], "deadline": "60s"})
    assert arm_end(until, ArmStatus(restarts=1), "", deadline_s=60) is None
    end = arm_end(until, ArmStatus(restarts=1, replays=3), "", deadline_s=60)
    assert end == EndByCondition(reached={"restarts": 1, "replays": 3})


def test_the_places_of_conditions_are_those_of_the_file() -> None:
    until = Until.model_validate({"any": [{"drained": True}, NESTED], "deadline": "60s"})
    places = [place for place, one in until.condition.inside(("until",)) if one.restarts or one.replays]
    assert places == [("until", "any", 1, "any", 0), ("until", "any", 1, "any", 1, "all", 0)]


@pytest.mark.parametrize(
    ("condition", "after_s"),
    [
        ({"elapsed": "5s"}, 5),
        ({"elapsed": "5s", "restarts": 1}, None),
        ({"any": [{"elapsed": "9s"}, {"elapsed": "5s"}, {"drained": True}]}, 5),
        ({"any": [{"drained": True}]}, None),
        ({"all": [{"elapsed": "9s"}, {"elapsed": "5s"}]}, 9),
        ({"all": [{"elapsed": "9s"}, {"drained": True}]}, None),
        ({"elapsed": "5s", "any": [{"elapsed": "7s"}]}, 7),
        ({"running_for": "5s"}, None),
    ],
)
def test_when_a_condition_is_surely_reached(condition: dict[str, Any], after_s: float | None) -> None:
    after = Condition.model_validate(condition).surely_after
    assert (after and after.total_seconds()) == after_s


@pytest.mark.parametrize(
    ("condition", "alone"),
    [
        ({"drained": True}, True),
        ({"drained": True, "restarts": 1}, False),
        ({"any": [{"restarts": 1}, {"drained": True}]}, True),
        ({"any": [{"restarts": 1}]}, False),
        ({"all": [{"drained": True}, {"restarts": 1}]}, False),
    ],
)
def test_what_ends_as_soon_as_it_has_drained(condition: dict[str, Any], alone: bool) -> None:
    assert Condition.model_validate(condition).by_drained_alone is alone


@pytest.mark.parametrize(
    ("until", "problem"),
    [
        ({"any": [{"drained": True}], "all": [{"drained": True}]}, "any and all are both given"),
        ({}, "no condition; write `any`"),
        ({"any": []}, "at least 1 item"),
        ({"any": [{"all": []}]}, "at least 1 item"),
        ({"any": [{"metric": {"name": "lag"}}]}, "write at_least, at_most"),
        ({"any": [{"log": {"event": "a", "at_least": 0}}]}, "greater than 0"),
    ],
)
def test_what_is_no_until(until: dict[str, Any], problem: str) -> None:
    """More of it is in tests/unit/golden/scenario_files.txt."""
    with pytest.raises(ValidationError, match=problem):
        Until.model_validate({**until, "deadline": "9s"})
