"""What an observation says besides figures."""

from devkit.scenario.arm.observation import by_hand
from tests.unit.devkit.scenario.arm.stage import COUNTED, Stage


def test_a_fault_that_was_put_in_by_hand_is_told(stage: Stage) -> None:
    stage.arm.state.counts = stage.counts
    assert by_hand(stage.arm) == ()
    stage.counts.rules["status-504"] = COUNTED
    assert by_hand(stage.arm) == ("fault 'status-504' was put in by hand",)
