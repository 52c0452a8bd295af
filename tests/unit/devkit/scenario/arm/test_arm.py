"""What the phases of an arm share."""

from dataclasses import replace

from devkit.debug.pause import PausePoint, Pauses
from devkit.scenario.arm.clock import ArmClock
from tests.unit.devkit.scenario.arm.stage import DIRECT, TOLD, Stage


def test_the_arms_clock_stands_still_while_it_is_paused(stage: Stage) -> None:
    asked: list[str] = []
    times = iter([0.0, 1000.0])
    pauses = Pauses((PausePoint("traffic"),), asked.append, lambda: next(times))
    stage.arm.context = replace(stage.arm.context, pauses=pauses)
    stage.arm.clock = ArmClock(monotonic=lambda: 1500.0)
    assert stage.arm.pause("arm-end") is None
    assert stage.arm.pause("traffic") == 1000.0
    assert asked == ["incident:traffic"]
    assert stage.arm.clock.now_s() == -1000.0


def test_what_runs_is_ended_before_what_is_open_is_closed(stage: Stage) -> None:
    ended: list[str] = []
    with stage.arm as arm:
        arm.stopping.callback(ended.append, "program")
        arm.closing.callback(ended.append, "topics")
    assert ended == ["program", "topics"]


def test_the_kit_goes_past_the_proxy_that_leads_programs(stage: Stage) -> None:
    config = stage.main.configured.effective()
    assert (config["source"]["bootstrap_servers"], config["sink"]["bootstrap_servers"]) == (TOLD, TOLD)
    assert stage.arm.bootstrap == DIRECT
