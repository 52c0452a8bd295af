"""What an observation says besides figures."""

from types import SimpleNamespace
from typing import cast

from devkit.observe.deferrals import Deferrals
from devkit.observe.sight import UPSTREAM
from devkit.scenario.arm.faults import ArmFaults
from devkit.scenario.arm.observation import by_hand, unseen_of
from tests.unit.devkit.scenario.arm.stage import COUNTED, Stage


def test_a_fault_that_was_put_in_by_hand_is_told(stage: Stage) -> None:
    stage.arm.state.counts = stage.counts
    assert by_hand(stage.arm) == ()
    stage.counts.rules["status-504"] = COUNTED
    assert by_hand(stage.arm) == ("fault 'status-504' was put in by hand",)


def test_a_fault_that_was_removed_by_hand_is_told(stage: Stage) -> None:
    stage.arm.state.counts = stage.counts
    removed = stage.rules.pop()
    assert removed.name in stage.counts.rules  # it had met requests before
    assert by_hand(stage.arm) == (f"fault {removed.name!r} was removed by hand",)


def test_what_a_fault_took_from_sight_is_not_seen(stage: Stage) -> None:
    stage.arm.deferrals = cast(Deferrals, SimpleNamespace())
    assert unseen_of(stage.arm) == frozenset()
    assert stage.timeline() == []
    stage.arm.faults = cast(ArmFaults, SimpleNamespace(unseen=UPSTREAM))
    assert unseen_of(stage.arm) == UPSTREAM
    assert [line["sights"] for line in stage.timeline()] == [["upstream"]]
