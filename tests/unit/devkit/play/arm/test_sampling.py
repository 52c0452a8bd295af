"""What an arm makes of a look at everything."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.kafka.emitted import Emissions
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.samples.metrics import Scraper
from devkit.observe.timeline.kit_events import ProcessEnded, ProcessRestarted
from devkit.play.arm.sampling import take_sample
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.command.view import CommandView
from devkit.scenario.model import Scenario
from devkit.traffic.publish import Publisher
from pipeline.events import BatchStarted, MetricsServed, Started
from tests.unit.devkit.play.arm.stage import ERROR, OUTPUT, SOURCE, Stage, set_up


class TestSamples:
    def test_sums_over_partitions(self, stage: Stage) -> None:
        stage.ends = {SOURCE: {0: 100, 1: 61}, OUTPUT: {0: 40, 1: 2}, ERROR: {0: 3}}
        stage.plan(0, p0=50, p1=10)
        stage.commit(0)
        stage.sample()
        sample = stage.arm.state.sample
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
        assert stage.main.state.drained is drained

    @pytest.fixture
    def out(self, stage: Stage) -> Stage:
        """All events are out, and the batch with them is planned."""
        stage.ends, stage.published, stage.done = {SOURCE: {0: 161}}, 161, True
        stage.plan(0, p0=161)
        return stage

    def test_a_topic_that_shows_no_partitions_yet_has_not_drained(self, out: Stage) -> None:
        out.arm.topics = replace(out.arm.topics, sources=(SOURCE, "links"))
        out.commit(0)
        out.sample()
        assert out.main.state.drained is False

    def test_what_is_deferred_or_planned_alone_has_not_drained(self, out: Stage) -> None:
        out.sample()
        assert out.main.state.drained is False
        out.commit(0)
        out.deferred = 1
        out.sample()
        assert (out.main.state.drained, out.arm.state.sample.deferred) == (False, 1)
        out.deferred = 0
        out.sample()
        assert out.main.state.drained is True

    def test_offsets_that_a_replay_reads_again_are_counted(self, stage: Stage) -> None:
        stage.plan(0, p0=50)
        stage.plan(1, p0=70)
        read_again = []
        for batch in (0, 1, 1, 1):
            stage.take(BatchStarted(batch=batch))
            stage.sample()
            read_again.append(stage.arm.state.sample.read_again)
        assert read_again == [0, 0, 20, 40]
        assert [line["read_again"] for line in stage.timeline() if line["kind"] == "sample"] == read_again

    def test_what_is_published_while_a_look_goes_on_is_not_taken_for_committed(self, stage: Stage) -> None:
        """The look saw the topic end at 160; the last event was acknowledged before the look was over."""

        def ends(topic: str) -> dict[int, int]:
            publisher.done, publisher.published = True, 161
            return {0: 160} if topic == SOURCE else {}

        publisher = SimpleNamespace(done=False, published=160)
        stage.plan(0, p0=160)
        stage.commit(0)
        stage.arm.sampler = stage.sampler(ends=SimpleNamespace(of=ends))
        stage.arm.publisher = cast(Publisher, publisher)
        take_sample(stage.arm)
        assert stage.main.state.drained is False

    def test_a_sample_knows_whose_query_runs(self, stage: Stage) -> None:
        stage.sample()
        for line in (
            Started(start="earliest"),
            ProcessEnded(process=1, exit_code=1),
            ProcessRestarted(process=2),
            Started(start="checkpoint"),
        ):
            stage.take(line)
            stage.sample()
        assert [sample.process for sample in stage.arm.state.samples] == [None, 1, None, None, 2]
        assert [line["process"] for line in stage.timeline() if line["kind"] == "sample"] == [None, 1, None, None, 2]

    def test_the_look_after_the_kill_is_no_sample_of_the_incident(self, stage: Stage) -> None:
        stage.sample()
        stage.sample(last=True)
        assert len(stage.arm.state.samples) == 1
        assert [line["kind"] for line in stage.timeline()] == ["sample", "sample"]

    def test_the_traffic_is_over_when_all_of_it_is_out(self, stage: Stage) -> None:
        stage.sample()
        assert stage.arm.state.traffic_over_s is None
        stage.published, stage.done = 161, True
        stage.sample()
        assert stage.arm.state.traffic_over_s == 4.0


class TestMetrics:
    """What the pipeline serves is read at each sample, from the newest process and only while it lives."""

    @pytest.fixture
    def asked(self, stage: Stage) -> list[str]:
        urls: list[str] = []

        def get(url: str) -> str:
            urls.append(url)
            return f"up {len(urls)}\n"

        stage.arm.scrapers = {stage.arm.main.name: Scraper(get)}
        return urls

    def test_at_each_sample_once_it_is_served(self, stage: Stage, asked: list[str]) -> None:
        stage.sample()
        stage.take(MetricsServed(url="http://here/metrics"))
        stage.sample()
        stage.sample()
        assert asked == ["http://here/metrics"] * 2
        assert stage.arm.scrapers[stage.arm.main.name].scraped().pages == 2

    def test_not_of_a_process_that_has_ended(self, stage: Stage, asked: list[str]) -> None:
        stage.take(MetricsServed(url="http://here/metrics"))
        stage.sample()
        stage.sample(last=True)
        stage.take(ProcessEnded(process=1, exit_code=1))
        stage.sample()
        stage.take(ProcessRestarted(process=2))
        stage.take(MetricsServed(url="http://there/metrics"))
        stage.sample()
        assert asked == ["http://here/metrics", "http://there/metrics"]
        stage.arm.scrapers[stage.arm.main.name].write(stage.directory)
        assert (stage.directory / "metrics-1.txt").read_text() == "up 1\n"
        assert (stage.directory / "metrics-2.txt").read_text() == "up 2\n"

    def test_a_line_without_an_address_serves_nothing(self, stage: Stage, asked: list[str]) -> None:
        stage.take(UnknownLine("metrics", {"url": 7}))
        stage.sample()
        assert asked == []


class TestState:
    """A job whose events wait in its state."""

    @pytest.mark.parametrize(("begins", "drained"), [(7, True), (6, False), (None, False)])
    def test_events_before_its_beginning_need_not_leave(
        self, stage: Stage, begins: int | None, *, drained: bool
    ) -> None:
        stage.arm.emissions = Emissions(lambda: [Arrival(OUTPUT, 0, 0, b"", {}, (SOURCE, 0, 7), 0)])
        stage.ends = {SOURCE: {0: 161}, OUTPUT: {0: 2}}
        stage.published, stage.done, stage.due = 161, True, ((SOURCE, 0, 6), (SOURCE, 0, 7))
        if begins is not None:
            text = f'\0v1\n{{"{SOURCE}":{{"0":{begins}}}}}'
            stage.store.put("checkpoints", "incident/an-incident/sources/0/0", text)
        stage.plan(0, p0=161)
        stage.commit(0)
        stage.sample()
        assert stage.main.state.drained is drained


class TestCommand:
    """A program that may show nothing of itself; what then counts is in the tests of the view."""

    @pytest.fixture
    def own(self, scenario: Scenario, tmp_path: Path) -> Iterator[Stage]:
        with set_up(scenario, tmp_path, program=CommandProgram(CommandLine(("mine",), Path("/nowhere")))) as stage:
            assert isinstance(stage.main.view, CommandView)
            stage.main.view._emissions = Emissions(lambda: [Arrival(OUTPUT, 0, 0, b"", {}, (SOURCE, 0, 7), 0)])
            stage.ends = {SOURCE: {0: 161}, OUTPUT: {0: 1}}
            stage.published, stage.done, stage.due = 161, True, ((SOURCE, 0, 7),)
            yield stage

    def test_it_has_drained_when_all_that_is_due_has_left(self, own: Stage) -> None:
        own.sample()
        assert own.main.state.drained

    def test_what_it_shows_is_seen(self, own: Stage) -> None:
        own.plan(0, p0=50)
        own.commit(0)
        own.take(Started())
        own.take(BatchStarted(batch=0))
        own.sample()
        deferrals = SimpleNamespace(entries=SimpleNamespace(ever={"something"}))
        assert own.main.view.not_observable(cast(Deferrals, deferrals)) == frozenset()
        assert not own.main.state.drained

    def test_lines_that_are_not_as_the_kits(self, own: Stage) -> None:
        for line in (UnknownLine("batch_started", {}), UnknownLine("batch_started", {"batch": "x"})):
            own.take(line)
        own.take(BatchStarted(batch=3))
        own.take(BatchStarted(batch=3))
        assert own.main.state.batches.replays == 1
        assert own.output.getvalue().endswith("incident replay: batch 3 again\n"), "no offsets are known"

    def test_a_restarted_process_counts_as_running(self, own: Stage) -> None:
        own.take(ProcessRestarted(process=2))
        assert own.main.state.process == 2
