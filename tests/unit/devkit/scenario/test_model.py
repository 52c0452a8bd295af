from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.scenario.end_condition import Condition
from devkit.scenario.model import Scenario
from devkit.scenario.stack_settings import Mock, TopicSettings


@pytest.mark.parametrize("condition", [{"drained": True}, {"restarts": 1}, {"replays": 3}])
def test_a_condition(condition: dict[str, Any]) -> None:
    assert Condition.model_validate(condition).model_dump(exclude_unset=True) == condition


@pytest.mark.parametrize(
    "condition",
    [{}, {"drained": False}, {"restarts": 0}, {"replays": -1}, {"drained": None}],
)
def test_what_never_comes_true_or_says_nothing_is_no_condition(condition: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Condition.model_validate(condition)


def test_sizes_are_bytes_for_kafka() -> None:
    settings = TopicSettings.model_validate({"max.message.bytes": "1.5MiB"})
    assert settings.kafka_settings() == {"max.message.bytes": "1572864"}


def test_the_faults_are_over_when_the_last_that_ends_has_ended() -> None:
    def mock(*windows: dict[str, str] | None) -> Mock:
        rules = [
            {"name": f"rule {n}", "when": {"window": window} if window else {}, "do": {"latency": "1s"}}
            for n, window in enumerate(windows)
        ]
        return Mock.model_validate({"rules": rules})

    assert mock().fault_over is None
    assert mock(None, {"from": "2s"}).fault_over is None
    ended = mock({"from": "3s", "for": "4s"}, {"for": "6s"}, {"from": "60s"}, None)
    assert ended.fault_over == timedelta(seconds=7)


def test_a_scenario_cannot_be_changed(scenario: Scenario) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        scenario.name = "other"  # type: ignore[misc]
