"""What an arm makes of what it sees: conditions, notes, samples. The stack is made of values; nothing is started."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.debug.debugger import PATIENCE, Debugger
from devkit.debug.pause import PausePoint, Pauses
from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import Arrival
from devkit.observe.deferrals import Deferrals
from devkit.observe.departed import Departed
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.sampler import Sampler, Topics
from devkit.observe.usage import TreeUsage
from devkit.programs.launch import Launch
from devkit.programs.spark import place as place_module
from devkit.scenario.aftermath import Account
from devkit.scenario.model import Scenario
from devkit.scenario.own_pipeline import OwnPipeline
from devkit.scenario.play import ArmPlay
from devkit.scenario.traffic import ScenarioTraffic
from devkit.scenario.view import OwnView
from devkit.stack.stack import Stack
from devkit.stack.topics import TopicEnds
from devkit.traffic.publish import Publisher
from tests.unit.devkit.scenario.stage import COUNTED, ERROR, OUTPUT, SOURCE, Stage, set_up


class TestSamples:
    def test_sums_over_partitions(self, stage: Stage) -> None:
        stage.ends = {SOURCE: {0: 100, 1: 61}, OUTPUT: {0: 40, 1: 2}, ERROR: {0: 3}}
        stage.plan(0, p0=50, p1=10)
        stage.commit(0)
        stage.sample()
        sample = stage.play._state.sample
        assert (sample.committed, sample.source_end, sample.lag) == (60, 161, 101)
        assert (sample.outputs, sample.errors, sample.requests, sample.in_flight) == (42, 3, 9, 1)
        (line,) = stage.timeline()
        assert (line["kind"], line["lag"], line["faults"]) == ("sample", 101, {"huge page": 3})

    @pytest.mark.parametrize(
        ("ends", "published", "done", "drained"),
        [
            ({0: 100, 1: 61}, 161, True, True),
            ({0: 100, 1: 61}, 161, False, False),
            # Stopped before all of it was out.
            ({0: 100, 1: 61}, 160, True, False),
            # One partition behind, although the other is ahead in the sum.
            ({0: 101, 1: 60}, 161, True, False),
            ({}, 161, True, False),
        ],
    )
    def test_drained_is_all_published_and_each_partition_committed_to_its_end(
        self, stage: Stage, ends: dict[int, int], published: int, done: bool, drained: bool
    ) -> None:
        stage.ends, stage.published, stage.done = {SOURCE: ends}, published, done
        stage.plan(0, p0=100, p1=61)
        stage.commit(0)
        stage.sample()
        assert stage.play._state.drained is drained

    def test_a_planned_batch_is_not_committed(self, stage: Stage) -> None:
        stage.ends, stage.published, stage.done = {SOURCE: {0: 161}}, 161, True
        stage.plan(0, p0=161)
        stage.sample()
        assert stage.play._state.drained is False

    def test_what_is_deferred_has_not_drained(self, stage: Stage) -> None:
        stage.ends, stage.published, stage.done = {SOURCE: {0: 161}}, 161, True
        stage.plan(0, p0=161)
        stage.commit(0)
        stage.deferred = 1
        stage.sample()
        assert (stage.play._state.drained, stage.play._state.sample.deferred) == (False, 1)
        stage.deferred = 0
        stage.sample()
        assert stage.play._state.drained is True

    def test_what_is_published_while_a_look_goes_on_is_not_taken_for_committed(self, stage: Stage) -> None:
        """The look saw the topic end at 160; the last event was acknowledged before the look was over."""

        def ends(topic: str) -> dict[int, int]:
            publisher.done, publisher.published = True, 161
            return {0: 160} if topic == SOURCE else {}

        publisher = SimpleNamespace(done=False, published=160)
        stage.plan(0, p0=160)
        stage.commit(0)
        sampler = Sampler(
            counts=lambda: stage.counts,
            topics=Topics(SOURCE, OUTPUT, ERROR),
            ends=cast(TopicEnds, SimpleNamespace(of=ends)),
            checkpoint=stage.play._checkpoint,
            deferrals=cast(Deferrals, SimpleNamespace(catch_up=lambda: 0)),
            usage=TreeUsage(list),
            clock=lambda: 4.0,
        )
        stage.play._sample(sampler, cast(Publisher, publisher))
        assert stage.play._state.drained is False

    def test_a_sample_knows_whose_query_runs(self, stage: Stage) -> None:
        stage.sample()
        for line in (
            {"event": "started", "start": "earliest", "spark_ui": "off"},
            {"event": "process_ended", "process": 1, "exit_code": 1},
            {"event": "process_restarted", "process": 2, "pid": 7},
            {"event": "started", "start": "checkpoint", "spark_ui": "off"},
        ):
            stage.play._events.take(line)
            stage.sample()
        assert [sample.process for sample in stage.play._state.samples] == [None, 1, None, None, 2]
        assert [line["process"] for line in stage.timeline() if line["kind"] == "sample"] == [None, 1, None, None, 2]

    def test_the_look_after_the_kill_is_no_sample_of_the_incident(self, stage: Stage) -> None:
        stage.sample()
        stage.sample(last=True)
        assert len(stage.play._state.samples) == 1
        assert [line["kind"] for line in stage.timeline()] == ["sample", "sample"]

    def test_the_traffic_is_over_when_all_of_it_is_out(self, stage: Stage) -> None:
        stage.sample()
        assert stage.play._state.traffic_over_s is None
        stage.published, stage.done = 161, True
        stage.sample()
        assert stage.play._state.traffic_over_s == 4.0


class TestTraffic:
    def begun(self, stage: Stage, when: str) -> list[bool]:
        """Whether the traffic has begun before the query runs, when it does, and how often it was begun in the end."""
        stage.play._scenario = stage.play._scenario.model_copy(update={"traffic_begins": when})
        starts: list[None] = []
        seen = []
        for process in (None, 1, 1, None, 2):
            stage.play._state.process = process
            stage.play._begin_traffic(lambda: starts.append(None))
            seen.append(bool(starts))
        assert len(starts) == 1
        assert [line["kind"] for line in stage.timeline()] == ["traffic_begins"]
        return seen

    def test_at_once(self, stage: Stage) -> None:
        assert self.begun(stage, "at once") == [True] * 5

    def test_when_the_first_query_runs(self, stage: Stage) -> None:
        assert self.begun(stage, "when running") == [False, True, True, True, True]


def test_latencies_are_told_by_the_second_of_publishing(stage: Stage) -> None:
    events = (
        EventLatency(None, 10_900, 0.5, has_left=True),
        EventLatency(None, 12_100, 2.0, has_left=True),
        EventLatency(None, 12_999, 1.0, has_left=False),
    )
    account = cast(Account, SimpleNamespace(latencies=Latencies(events)))
    stage.play._tell_latencies(account, began_ms=10_000)
    assert [{key: line[key] for key in line if key != "t_s"} for line in stage.timeline()] == [
        {"kind": "latency", "arm": "incident", "at_s": 0, "count": 1, "waiting": 0, "p50_s": 0.5, "p95_s": 0.5,
         "p99_s": 0.5},
        {"kind": "latency", "arm": "incident", "at_s": 2, "count": 2, "waiting": 1, "p50_s": 2.0, "p95_s": None,
         "p99_s": None},
    ]  # fmt: skip


class TestOwnPipeline:
    """A pipeline that may show nothing of itself; what then counts is in the tests of the view."""

    @pytest.fixture
    def own(self, scenario: Scenario, tmp_path: Path) -> Iterator[Stage]:
        with set_up(scenario, tmp_path, own=OwnPipeline(("mine",), Path("/nowhere"))) as stage:
            assert isinstance(stage.play._view, OwnView)
            stage.play._view._departed = Departed(lambda: [Arrival(OUTPUT, 0, 0, b"", {}, (SOURCE, 0, 7), 0)])
            stage.ends = {SOURCE: {0: 161}, OUTPUT: {0: 1}}
            stage.published, stage.done, stage.due = 161, True, ((SOURCE, 0, 7),)
            yield stage

    def test_it_has_drained_when_all_that_is_due_has_left(self, own: Stage) -> None:
        own.sample()
        assert own.play._state.drained

    def test_what_it_shows_is_seen(self, own: Stage) -> None:
        own.plan(0, p0=50)
        own.commit(0)
        own.play._events.take({"event": "started"})
        own.play._events.take({"event": "batch_started", "batch": 0})
        own.sample()
        deferrals = SimpleNamespace(standing=SimpleNamespace(ever={"something"}))
        assert own.play._view.unseen(cast(Deferrals, deferrals)) == frozenset()
        assert not own.play._state.drained

    def test_lines_that_are_not_as_the_kits(self, own: Stage) -> None:
        for line in ({"event": "batch_started"}, {"event": "batch_started", "batch": "x"}, {"event": "failed"}):
            own.play._events.take(line)
        own.play._events.take({"event": "batch_started", "batch": 3})
        own.play._events.take({"event": "batch_started", "batch": 3})
        assert own.play._state.batches.replays == 1
        assert own.output.getvalue().endswith("incident replay: batch 3 again\n"), "no offsets are known"

    def test_a_restarted_process_counts_as_running(self, own: Stage) -> None:
        own.play._events.take({"event": "process_restarted", "process": 2})
        assert own.play._state.process == 2


class TestLaunch:
    """What is started: the kit's pipeline, perhaps for a debugger, or somebody's own."""

    @pytest.fixture
    def launched(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Launch]:
        store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=lambda: {"AWS_REGION": "here"})
        monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
        venue = replace(
            stage.play._venue,
            stack=cast(Stack, SimpleNamespace(object_store=store)),
            guardian=cast(Guardian, SimpleNamespace(directory=stage.directory)),
        )

        def launch(*, own: OwnPipeline | None = None, debugger: Debugger | None = None) -> Launch:
            stage.play._venue = replace(venue, own=own, debugger=debugger)
            return stage.play._supervisor()._launch

        return launch

    def test_the_kits_pipeline(self, stage: Stage, launched: Callable[..., Launch]) -> None:
        launch = launched()
        directory = stage.directory / "incident"
        # The incident arm is what the unsafe policies are there for.
        assert launch.argv[-3:] == ("--config", str(directory / "pipeline.yaml"), "--allow-unsafe")
        assert (launch.first.arguments, launch.again.arguments) == (("--new", "earliest"), ())
        assert "spark.master local[4]" in (directory / "spark-conf" / "spark-defaults.conf").read_text()
        assert launch.environment["AWS_REGION"] == "here"

    def test_for_a_debugger_of_its_worker(self, stage: Stage, launched: Callable[..., Launch]) -> None:
        launch = launched(debugger=Debugger("worker", 5678))
        assert launch.environment["DEVKIT_DEBUG_PORT"] == "5678"
        conf = (stage.directory / "incident" / "spark-conf" / "spark-defaults.conf").read_text()
        assert "spark.master local[1]" in conf

    def test_somebodys_own(self, stage: Stage, launched: Callable[..., Launch]) -> None:
        launch = launched(own=OwnPipeline(("mine", "x"), Path("/nowhere")))
        assert launch.argv[-2:] == ("mine", "x")
        config_file = Path(launch.environment["DEVKIT_PIPELINE_CONFIG"])
        assert json.loads(config_file.read_text())["job"] == "html-enrichment"
        assert launch.environment["AWS_REGION"] == "here"
        assert not (stage.directory / "incident" / "spark-conf").exists()


def test_a_fault_that_was_put_in_by_hand_is_told(stage: Stage) -> None:
    assert stage.play._caveats(stage.counts) == ()
    stage.counts.rules["status-504"] = COUNTED
    assert stage.play._caveats(stage.counts) == ("fault 'status-504' was put in by hand",)


def test_the_arms_clock_stands_still_while_it_is_paused(stage: Stage) -> None:
    asked: list[str] = []
    times = iter([0.0, 1000.0])
    pauses = Pauses((PausePoint("traffic"),), asked.append, lambda: next(times))
    stage.play._venue = replace(stage.play._venue, pauses=pauses)
    assert not stage.play._pause("arm-end")
    assert stage.play._pause("traffic")
    assert asked == ["incident:traffic"]
    assert stage.play._now_s() < -900


def test_a_debugged_pipeline_has_time(stage: Stage, scenario: Scenario, tmp_path: Path) -> None:
    venue = replace(stage.play._venue, debugger=Debugger("driver", 1), directory=tmp_path / "debugged")
    play = ArmPlay(venue, scenario, "incident", cast(ScenarioTraffic, SimpleNamespace(count=161)))
    assert play._config.stall_timeout == PATIENCE
    assert stage.play._config.stall_timeout < PATIENCE
