"""What the phases of an arm share."""

from dataclasses import replace

from devkit.debug.pause_point import PausePoint, Pauses
from devkit.play.arm.clock import ArmClock
from tests.unit.devkit.faults.fakes import Clock
from tests.unit.devkit.play.arm.stage import DIRECT, TOLD, Stage


def test_the_arms_clock_stands_still_while_it_is_paused(stage: Stage) -> None:
    time = Clock()
    asked: list[tuple[str, float]] = []

    def gate(name: str) -> None:
        time.now += 1000
        asked.append((name, stage.arm.clock.now_s()))

    stage.arm.context = replace(stage.arm.context, pauses=Pauses((PausePoint("traffic"),), gate, time))
    stage.arm.clock = ArmClock(monotonic=time)
    time.now = 5.0
    assert stage.arm.pause("arm-end") is None
    assert stage.arm.pause("traffic") == 1000.0
    assert asked == [("incident:traffic", 5.0)]  # also who asks during the pause, as a timeline does
    time.now += 2
    assert stage.arm.clock.now_s() == 7.0


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
