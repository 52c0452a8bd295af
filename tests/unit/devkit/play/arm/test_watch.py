"""An arm that is watched: when its traffic begins, what its hooks get to see, and when it ends."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.debug.debugger import Debugger
from devkit.errors import StackError
from devkit.observe.arm_end import ArmEnd, EndByDeadline, EndByRefusal
from devkit.play.arm.arm_faults import ArmFaults
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.start import begin_traffic, publish_backlog, start
from devkit.play.arm.watch import watch
from devkit.scenario.end_condition import Until
from devkit.stack.stack import Stack
from devkit.traffic.publish import Publisher
from tests.unit.devkit.play.arm.stage import SOURCE, Stage

LONG_S = 1_000.0
Watch = Callable[[], ArmEnd | None]


class TestTraffic:
    @pytest.mark.parametrize(
        ("when", "begun"), [("at once", [True] * 5), ("when running", [False, True, True, True, True])]
    )
    def test_it_begins_once_at_once_or_when_the_first_query_runs(
        self, stage: Stage, when: str, begun: list[bool]
    ) -> None:
        stage.arm.scenario = stage.arm.scenario.model_copy(update={"traffic_begins": when})
        starts: list[None] = []
        stage.arm.publisher = cast(Publisher, SimpleNamespace(start=lambda: starts.append(None)))
        seen = []
        for process in (None, 1, 1, None, 2):
            stage.main.state.process = process
            begin_traffic(stage.arm)
            seen.append(bool(starts))
        assert (seen, len(starts)) == (begun, 1)
        assert [line["kind"] for line in stage.timeline()] == ["traffic_begins"]

    def test_before_the_start(self, stage: Stage) -> None:
        stage.arm.scenario = stage.arm.scenario.model_copy(update={"traffic_begins": "before the start"})
        calls: list[str] = []
        found = SimpleNamespace(start=lambda: calls.append("start"), result=lambda timeout_s: calls.append("result"))
        stage.arm.publisher = cast(Publisher, found)
        publish_backlog(stage.arm)
        begin_traffic(stage.arm)
        assert calls == ["start", "result"]

    def test_no_backlog_of_traffic_that_begins_later(self, stage: Stage) -> None:
        publish_backlog(stage.arm)
        assert not stage.arm.state.traffic_begun


class StillGoesOn(Exception):  # noqa: N818 - what a test may expect
    """A thousand seconds have passed, and the arm has not ended."""


class Time:
    """Seconds that pass while the arm sleeps, and only then."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now > LONG_S:
            raise StillGoesOn


@pytest.fixture
def clock(stage: Stage) -> Time:
    time = Time()
    stage.arm.clock = ArmClock(lambda: time.now, lambda: 7)
    return time


@pytest.fixture
def watched(stage: Stage, clock: Time) -> Watch:
    """Watches an arm, begun now, in which nothing happens; the reason of its end."""
    stage.arm.context = replace(stage.arm.context, stack=cast(Stack, SimpleNamespace(require_running=lambda: None)))
    stage.arm.programs = ()
    stage.ends = {SOURCE: {0: 161}}
    stage.arm.sampler = stage.sampler(clock=stage.arm.clock.now_s)
    publisher = SimpleNamespace(start=lambda: None, error=None, done=False, published=0)
    stage.arm.publisher = cast(Publisher, publisher)

    def reason() -> ArmEnd | None:
        watch(stage.arm, clock.sleep)
        return stage.arm.state.end

    return reason


class TestDeadline:
    """An arm whose conditions never come."""

    def test_it_ends_at_its_deadline_and_says_so(self, watched: Watch, stage: Stage, clock: Time) -> None:
        assert watched() == EndByDeadline(deadline_s=90)
        assert 90 < clock.now < 91
        assert stage.arm.state.ended_ms == 7

    def test_its_deadline_counts_from_when_the_arm_began(self, watched: Watch, clock: Time) -> None:
        """What is done before its program is watched is the arm's time too."""
        clock.now += 50
        assert watched() == EndByDeadline(deadline_s=90)
        assert 90 < clock.now < 91

    def test_one_that_nobody_could_look_at_is_an_error(self, watched: Watch, stage: Stage) -> None:
        """A fault of the timeline blinds the arm from its beginning to its end."""
        stage.arm.faults = cast(ArmFaults, SimpleNamespace(blinds=True))
        stage.arm.hooks = ()
        message = r"arm incident ended \(deadline of 90s\) before it could be observed"
        with pytest.raises(StackError, match=message) as raised:
            watched()
        assert raised.value.hint

    def test_a_refused_start_ends_it_at_once(self, watched: Watch, stage: Stage, clock: Time) -> None:
        stage.arm.main.supervisor.refusal, stage.arm.main.supervisor._is_over = "two metrics of one name", True
        assert watched() == EndByRefusal()
        assert clock.now < 1

    def test_one_that_is_debugged_has_none(self, watched: Watch, stage: Stage) -> None:
        debugger = cast(Debugger, SimpleNamespace(invitation=lambda: "attach"))
        stage.arm.context = replace(stage.arm.context, debugger=debugger)
        with pytest.raises(StillGoesOn):
            watched()


def test_a_time_of_running_counts_from_the_first_process_that_ran(watched: Watch, stage: Stage, clock: Time) -> None:
    """Not from the arm's start, as the query begins some time later, and not anew with each restart."""
    stage.arm.scenario = stage.arm.scenario.model_copy(
        update={"until": Until.model_validate({"any": [{"running_for": "10s"}], "deadline": "60s"})}
    )
    sleep = clock.sleep

    def goes_on(seconds: float) -> None:
        sleep(seconds)
        stage.main.state.process = None if clock.now < 20 else 1 if clock.now < 25 else 2

    clock.sleep = goes_on  # type: ignore[method-assign]
    watched()
    assert stage.arm.state.running_from_s == pytest.approx(20, abs=1)
    assert clock.now == pytest.approx(30, abs=1)


class TestHooks:
    """What goes along with an arm."""

    @pytest.fixture
    def happened(self, stage: Stage) -> list[str]:
        happened: list[str] = []

        class Noted:
            def begin(self) -> None:
                happened.append("begin")

            def look(self) -> None:
                happened.append(f"look at {stage.arm.state.sample.source_end}")

            def end(self) -> None:
                happened.append("end")

        stage.arm.hooks = (Noted(),)
        return happened

    def test_they_look_at_what_was_sampled(self, watched: Watch, happened: list[str], clock: Time) -> None:
        clock.now = 89.9
        watched()
        assert happened == ["look at 161"] * len(happened)
        assert happened

    def test_they_end_before_the_programs(self, watched: Watch, stage: Stage, happened: list[str]) -> None:
        run = SimpleNamespace(name="", stop=lambda: happened.append("stopped"), is_running=True, is_started=True)
        stage.arm.programs = cast(Any, (run,))
        with stage.arm:
            start(stage.arm)
            assert happened == ["begin"]
        assert happened == ["begin", "end", "stopped"]
