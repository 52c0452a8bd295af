"""An arm whose program is warmed up, and what is kept out of the arm of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.debug.debugger import Debugger
from devkit.faults.timeline_item import TimelineItem
from devkit.observe.kafka.deferrals import NoDeferrals
from devkit.observe.timeline.kit_events import ProcessEnded, ProgramEvent
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.sampling import take_sample
from devkit.play.arm.warm_up import can_be_warmed_up, reason_against, warm_up
from devkit.play.arm.watch import has_ended
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.scenario.arms import ArmSettings
from devkit.scenario.model import Scenario
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import Stack
from devkit.traffic.event_time import OwnEventTime
from pipeline.events import BatchCommitted, BatchStarted, Started, Waiting
from tests.unit.devkit.play.arm.stage import ERROR, OUTPUT, SOURCE, Stage, set_up

WARM, OF_ARM = ["warm"], ["of the arm"]


def killing(**when: str) -> TimelineItem:
    return TimelineItem.model_validate({"name": "x", "do": {"kill": {"part": "kafka"}}, **when})


class Warming:
    """A stage on which each sleep takes a second; `happens` says what there is to be seen after which."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.now, self.happens = stage, 100.0, dict[float, Callable[[], None]]()
        self.populated: list[tuple[list[str], int]] = []
        self.events: list[ProgramEvent] = []
        arm = stage.arm
        arm.scenario = arm.scenario.model_copy(update={"traffic_begins": "when running"})
        arm.clock = ArmClock(lambda: self.now, lambda: 7)
        arm.main.state.process = 1
        arm.deferrals = NoDeferrals()
        warm = SimpleNamespace(catalog=lambda: WARM, publish=lambda *_: {0: 0, 1: 0})
        arm.traffic = cast(
            ScenarioTraffic,
            SimpleNamespace(count=161, dump=None, catalog=lambda: OF_ARM, warm_up=lambda partitions: warm),
        )
        mock = vars(arm.context.stack.mock_api) | {"counts": lambda: stage.counts, "populate": self.populate}
        parts = vars(arm.context.stack) | {"mock_api": SimpleNamespace(**mock), "require_running": lambda: None}
        arm.context = replace(arm.context, stack=cast(Stack, SimpleNamespace(**parts)))
        cast(Any, arm.main).poll = self.poll
        arm.sampler = stage.sampler(deferrals=arm.deferrals, clock=arm.clock.now_s)

    def populate(self, *, seed: int, catalog: list[str], rules: tuple[object, ...]) -> None:
        assert seed == self.stage.arm.scenario.traffic.seed
        self.populated.append((catalog, len(rules)))

    def poll(self) -> Iterator[ProgramEvent]:
        events, self.events = self.events, []
        return iter(events)

    def sleep(self, _seconds: float) -> None:
        self.now += 1
        self.happens.get(self.now, lambda: None)()

    def warm_up(self) -> None:
        warm_up(self.stage.arm, self.sleep)

    def it_leaves(self) -> None:
        self.stage.ends = {SOURCE: {0: 1, 1: 1}, OUTPUT: {0: 2}}
        self.events = [BatchStarted(batch=0)]

    def it_is_committed(self) -> None:
        self.stage.plan(0, p0=1, p1=1)
        self.stage.commit(0)


@pytest.fixture
def warming(stage: Stage) -> Warming:
    return Warming(stage)


@pytest.fixture
def warmed(warming: Warming) -> Stage:
    """It has left after two seconds and is committed after three."""
    warming.happens = {102: warming.it_leaves, 103: warming.it_is_committed}
    warming.warm_up()
    return warming.stage


class TestItsEnd:
    def test_is_when_all_of_it_is_committed(self, warmed: Stage) -> None:
        assert warmed.arm.state.warm_up_s == 3
        assert [line["kind"] for line in warmed.timeline()] == ["batch_started", "warmed_up", "phase"]
        line = warmed.timeline()[1]
        assert (line["offsets"], line["seconds"], line["problem"]) == ({"0": 0, "1": 0}, 3, None)
        assert not warmed.arm.state.cold

    def test_is_not_before_it_has_left(self, warming: Warming) -> None:
        """What was deferred is committed, and has yet to be worked off."""
        warming.happens = {102: warming.it_is_committed, 105: warming.it_leaves}
        warming.warm_up()
        assert warming.stage.arm.state.warm_up_s == 5

    def test_is_not_before_each_partition_is_committed(self, warming: Warming) -> None:
        def one_of_two() -> None:
            warming.stage.plan(0, p0=1)
            warming.stage.commit(0)

        def both() -> None:
            warming.stage.plan(1, p0=1, p1=1)
            warming.stage.commit(1)

        warming.happens = {101: warming.it_leaves, 102: one_of_two, 104: both}
        warming.warm_up()
        assert warming.stage.arm.state.warm_up_s == 4

    def test_a_program_that_ends_in_it_is_observed_and_the_arm_goes_on_cold(self, warming: Warming) -> None:
        warming.happens = {102: lambda: warming.events.append(ProcessEnded(process=1, exit_code=1))}
        warming.warm_up()
        state = warming.stage.arm.state
        assert state.warm_up_s == 2
        assert state.cold == "it began cold, as its warm-up was broken off: the process ended in it"
        assert not state.caveats, "nobody did it by hand"
        assert warming.populated[-1] == (OF_ARM, 1)

    def test_one_that_never_commits_is_not_waited_for(self, warming: Warming) -> None:
        warming.happens = {102: warming.it_leaves}
        warming.warm_up()
        state = warming.stage.arm.state
        assert 0 < state.warm_up_s - warming.stage.arm.scenario.until.deadline.total_seconds() < 3
        assert "not committed within " in state.cold


class TestWhatIsKeptOut:
    def test_the_mock_knows_no_rule_meanwhile_and_begins_afresh_after_it(self, warming: Warming, warmed: Stage) -> None:
        assert warming.populated == [(WARM, 0), (OF_ARM, len(warmed.arm.scenario.mock.rules))]
        assert len(warmed.arm.scenario.mock.rules) == 1

    def test_samples_count_from_its_end_on(self, warmed: Stage) -> None:
        assert not warmed.arm.state.samples, "none is taken meanwhile"
        warmed.ends = {SOURCE: {0: 51, 1: 11}, OUTPUT: {0: 42}, ERROR: {0: 3}}
        warmed.plan(1, p0=31, p1=1)
        warmed.commit(1)
        warmed.arm.publisher = cast(Any, SimpleNamespace(done=False, published=60))
        take_sample(warmed.arm)
        sample = warmed.arm.state.sample
        assert (sample.committed, sample.source_end, sample.outputs, sample.errors) == (30, 60, 40, 3)
        assert warmed.main.state.committed == {(SOURCE, 0): 31, (SOURCE, 1): 1}, "offsets are the topic's own"

    def test_an_arm_drains_as_ever(self, warmed: Stage) -> None:
        warmed.ends = {SOURCE: {0: 101, 1: 62}}
        warmed.arm.publisher = cast(Any, SimpleNamespace(done=True, published=161))
        take_sample(warmed.arm)
        assert not warmed.main.state.drained
        warmed.plan(1, p0=101, p1=62)
        warmed.commit(1)
        take_sample(warmed.arm)
        assert warmed.main.state.drained

    def test_the_fold_of_the_deferral_topic_passes_over_it(self, warmed: Stage) -> None:
        entries = warmed.arm.deferrals.entries
        entries.take(f"{SOURCE}/1/{0:010}".encode(), b"{}", {"cause": b"batch_budget"})
        assert (entries.ever, entries.over_budget) == (frozenset(), frozenset())
        entries.take(f"{SOURCE}/1/{1:010}".encode(), b"{}")
        assert entries.now == {(SOURCE, 1, 1)}

    def test_the_deadline_is_that_much_later(self, warming: Warming, warmed: Stage) -> None:
        deadline_s = 90
        warming.now = 100 + deadline_s + 2.9
        assert has_ended(warmed.arm, deadline_s) is None
        warming.now = 100 + deadline_s + 3.1
        assert has_ended(warmed.arm, deadline_s) is not None

    def test_conditions_count_batches_from_the_one_after_it(self, warmed: Stage) -> None:
        assert killing(when="batch 0 committed").when is not None
        seen: list[frozenset[int]] = []
        faults = warmed.arm.faults
        faults._runner = cast(Any, SimpleNamespace(look=lambda what: seen.append(what.batches)))
        # Spark says late that the warm-up's batch is committed.
        for line in (BatchCommitted(batch=0, rows=2, durations_ms={}), BatchStarted(batch=1)):
            faults.note(line)
            faults.look()
        faults.note(BatchStarted(batch=2))
        faults.look()
        assert seen == [frozenset(), frozenset(), frozenset({0})]
        assert "batch_committed" not in faults._events

    def test_what_else_the_program_says_meanwhile_is_noted(self, warming: Warming) -> None:
        warming.events = [Started(start="earliest"), Waiting(batch=0, reason="x", wikis=())]
        warming.happens = {102: warming.it_leaves, 103: warming.it_is_committed}
        warming.warm_up()
        assert warming.stage.arm.faults._events == {"started", "waiting"}


class TestReasonsAgainst:
    def test_none(self, warming: Warming) -> None:
        assert can_be_warmed_up(warming.stage.arm)
        assert "warm-up" not in warming.stage.output.getvalue()

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"traffic_begins": "at once"}, "begins at once, and its backlog"),
            ({"traffic_begins": "before the start"}, "begins before the start, and its backlog"),
            ({"tried_first": {"fixed": {}}}, "one of the start"),
            ({"arms": {"incident": ArmSettings(start="latest"), "fixed": ArmSettings()}}, "arm incident may begin"),
            ({"timeline": (killing(at="8s"),)}, "at a moment of the arm"),
        ],
    )
    def test_of_the_scenario(self, warming: Warming, change: dict[str, Any], reason: str) -> None:
        arm = warming.stage.arm
        arm.scenario = arm.scenario.model_copy(update=change)
        assert not can_be_warmed_up(arm)
        (line,) = warming.stage.timeline()
        assert (line["phase"], line["text"].startswith("none: ")) == ("warm-up", True)
        assert reason in line["text"]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"generator": "mine"}, "made of page changes"),
            ({"event_times": OwnEventTime(published=60.0)}, "times of their own"),
        ],
    )
    def test_of_its_traffic(self, warming: Warming, change: dict[str, Any], reason: str) -> None:
        arm = warming.stage.arm
        traffic = arm.scenario.traffic.model_copy(update=change)
        arm.scenario = arm.scenario.model_copy(update={"traffic": traffic})
        assert reason in (reason_against(arm) or "")

    def test_another_program_that_reads_the_source(self, warming: Warming) -> None:
        warming.stage.arm.programs *= 2
        assert "reads the source as well" in (reason_against(warming.stage.arm) or "")

    def test_a_debugger(self, warming: Warming) -> None:
        arm = warming.stage.arm
        arm.context = replace(arm.context, debugger=cast(Debugger, object()))
        assert "debugger" in (reason_against(arm) or "")

    def test_a_program_that_does_not_show_its_commits(self, scenario: Scenario, tmp_path: Path) -> None:
        live = scenario.model_copy(update={"traffic_begins": "when running"})
        with set_up(live, tmp_path, program=CommandProgram(CommandLine(("mine",), Path("/nowhere")))) as own:
            assert "does not say when it runs" in (reason_against(own.arm) or "")
