"""One look at a stack made of values."""

from bisect import bisect_left
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import PartError
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.samples import sampler as sampler_module
from devkit.observe.samples.sample import NOTHING_SEEN, Sample
from devkit.observe.samples.sampler import SampledTopics, Sampler, counted_since, percentile
from devkit.observe.samples.usage import TreeUsage, Usage
from devkit.observe.timeline.timeline import TimelineEntry, line_of
from devkit.report.arm_record import arm_record
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.topics import TopicEnds
from mockapi.client.journal_counts import JournalTotals, RuleTotals, UpstreamTotals

EDGES = (0.005, 0.05, 0.5, 5.0)
COMMITTED = {("in", 0): 30, ("in2", 0): 10}
COUNTS: dict[str, Any] = {
    "clock_s": 3.25,
    "requests": 40,
    "fetches": 25,
    "max_attempt": 4,
    "in_flight": 6,
    "by_status": {"200": 20, "504": 20},
    "latency": {"le_s": [0.1, 1.0, 10.0], "counts": [20, 20, 0]},
    "upstream": {"busy": 4, "queued": 9, "parses": 22, "abandoned": 5, "parse_s": 17.5, "max_queued": 12},
    "rules": {
        "slow page": RuleTotals(
            requests=3, in_flight=2, completed=0, max_real_bytes=0, max_wire_bytes=0, max_duration_s=0
        ),
        "never": RuleTotals(requests=0, completed=0, max_real_bytes=0, max_wire_bytes=0, max_duration_s=0),
    },
}


@dataclass
class Stack:
    """Notes the order in which it is looked at."""

    counts: dict[str, Any] = field(default_factory=lambda: COUNTS)
    committed: dict[tuple[str, int], int] = field(default_factory=lambda: COMMITTED)
    looked: list[str] = field(default_factory=list)

    def sampler(self) -> Sampler:
        ends = {"in": {0: 100, 1: 40}, "in2": {0: 10}, "out": {0: 30}, "err": {0: 2}, "err2": {0: 5}}
        return Sampler(
            counts=lambda: JournalTotals.model_validate(self.counts),
            topics=SampledTopics(("in", "in2"), "out", ("err", "err2")),
            ends=cast(TopicEnds, SimpleNamespace(of=lambda topic: self.look(topic, ends[topic]))),
            committed=lambda: self.look("committed", self.committed),
            deferrals=cast(Deferrals, SimpleNamespace(catch_up=lambda: self.look("deferred", 3))),
            usage=cast(TreeUsage, SimpleNamespace(look=lambda: Usage(1.23456, 700, 1, {"JVM": 600}))),
            clock=lambda: 12.3456,
        )

    def look(self, what: str, found: Any) -> Any:
        self.looked.append(what)
        return found


def test_a_sample_has_everything_that_was_seen() -> None:
    look = Stack().sampler().look(process=2)
    assert look.sample == Sample(
        at_s=12.346,
        committed=40,
        source_end=150,
        outputs=30,
        errors=7,
        requests=40,
        in_flight=6,
        process=2,
        upstream_clock_s=3.25,
        by_status={"200": 20, "504": 20},
        fetches=25,
        max_attempt=4,
        busy=4,
        queued=9,
        parses=22,
        abandoned=5,
        parse_s=17.5,
        answer_p50_s=0.1,
        answer_p95_s=0.91,
        answer_p99_s=0.982,
        faults={"slow page": 3, "never": 0},
        faults_in_flight={"slow page": 2},
        deferred=3,
        cpu_cores=1.235,
        memory_bytes=700,
        memory_kinds={"JVM": 600},
        partitions=3,
        partitions_read=2,
        source_ends={"in/0": 100, "in/1": 40, "in2/0": 10},
        lags={"in/0": 70, "in/1": 40, "in2/0": 0},
    )
    assert (look.committed, look.source_ends) == (COMMITTED, {("in", 0): 100, ("in", 1): 40, ("in2", 0): 10})


def test_answer_times_are_of_the_requests_since_the_look_before() -> None:
    stack = Stack()
    sampler = stack.sampler()
    sampler.look(None)
    assert sampler.look(None).sample.answer_p50_s is None
    stack.counts = COUNTS | {"latency": {"le_s": [0.1, 1.0, 10.0], "counts": [20, 20, 8]}}
    assert sampler.look(None).sample.answer_p50_s == 5.5


def test_ends_and_deferrals_are_read_after_what_was_committed() -> None:
    """The other way round, a batch that commits between the two would be ahead of the end, and one that defers as well
    would look as if it had deferred nothing.
    """
    stack = Stack()
    stack.sampler().look(None)
    assert stack.looked[:4] == ["committed", "in", "in2", "deferred"]


def test_no_lag_is_negative() -> None:
    ahead = Stack(committed={("in", 0): 130, ("in", 1): 10}).sampler().look(None).sample
    assert (ahead.lags, ahead.lag) == ({"in/0": 0, "in/1": 30, "in2/0": 10}, 40)
    assert NOTHING_SEEN.model_copy(update={"committed": 24, "source_end": 21}).lag == 0


def test_before_the_first_request() -> None:
    quiet = COUNTS | {"clock_s": None, "latency": {}}
    sample = Stack(quiet).sampler().look(None).sample
    assert (sample.upstream_clock_s, sample.answer_p99_s) == (None, None)


def test_one_more_counter_is_a_field_where_it_is_counted_and_one_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a line of the report (`PANELS`): sampler, timeline and the record of the arm pass it on without naming it."""

    class Counts(UpstreamTotals):
        cache_hits: int = 5

    class More(Sample):
        cache_hits: int = 0

    monkeypatch.setattr(sampler_module, "Sample", More)
    sampler = Stack().sampler()
    counts = sampler.counts().model_copy(update={"upstream": Counts()})
    sampler.counts = lambda: counts
    sample = sampler.look(1).sample
    assert line_of(TimelineEntry(0, sample))["cache_hits"] == 5
    record = arm_record("incident", [TimelineEntry(0, sample)])
    assert [getattr(one, "cache_hits", None) for one in record.samples] == [5]


def test_each_program_that_runs_is_in_it_where_there_are_several() -> None:
    def usage(memory: int) -> TreeUsage:
        return cast(TreeUsage, SimpleNamespace(look=lambda: Usage(0.5, memory, processes=1 if memory else 0)))

    sampler = Stack().sampler()
    sampler.usage, sampler.name, sampler.beside = usage(700), "html", {"reader": usage(30), "once": usage(0)}
    programs = sampler.look(process=1).sample.programs
    assert {name: use.memory_bytes for name, use in programs.items()} == {"html": 700, "reader": 30}


def test_a_bucket_is_taken_to_be_spread_evenly_and_above_the_last_edge_is_the_edge() -> None:
    assert percentile(0.5, EDGES, (0, 0, 10, 0)) == pytest.approx(0.275)
    assert percentile(1, EDGES, (0, 0, 10, 0)) == 0.5
    assert percentile(0.5, EDGES, (10, 0, 0, 0)) == pytest.approx(0.0025)
    assert percentile(0.99, EDGES, (1, 0, 0, 0, 99)) == 5.0
    assert percentile(0.5, EDGES, (0, 0, 0, 0)) is percentile(0.5, (), ()) is None, "nothing was counted"


def test_a_difference_is_what_was_counted_since_and_counts_that_went_down_have_begun_anew() -> None:
    assert counted_since((1, 5), (3, 5)) == (2, 0)
    assert counted_since((), (3, 5)) == (3, 5)
    assert counted_since((3, 2), (1, 5)) == (1, 5)


@given(st.lists(st.floats(0.0001, 4.99), min_size=1, max_size=60), st.floats(0.01, 1))
def test_is_within_the_bucket_of_the_true_percentile(values: list[float], share: float) -> None:
    counts = [0] * len(EDGES)
    for value in values:
        counts[bisect_left(EDGES, value)] += 1
    ordered = sorted(values)
    true = ordered[next(n for n in range(len(ordered)) if n + 1 >= share * len(ordered))]
    bucket = bisect_left(EDGES, true)
    found = percentile(share, EDGES, counts)
    assert found is not None
    assert (EDGES[bucket - 1] if bucket else 0) - 1e-9 <= found <= EDGES[bucket] + 1e-9


@dataclass
class Follower:
    """One that says each of `said` in turn."""

    said: list[dict[tuple[str, int], int] | PartError | None]
    part: str = TRIPLE_STORE

    def look(self) -> dict[tuple[str, int], int] | None:
        said = self.said.pop(0)
        if isinstance(said, PartError):
            raise said
        return said

    def close(self) -> None:
        """Nothing is open."""


SILENT = PartError("the triple store did not answer", TRIPLE_STORE)


def test_what_waits_for_a_follower_is_as_it_was_while_its_store_does_not_answer() -> None:
    sampler = Stack().sampler()
    # The last one has written more since the ends were asked for.
    follower = Follower([SILENT, {("out", 0): 12}, SILENT, None, {("out", 0): 30}, {("out", 0): 31}])
    sampler.followers = {"apply": follower}
    looks = [(sampler.look(1).sample.waiting, {*sampler.not_answered}) for _ in range(len(follower.said))]
    assert looks == [
        ({}, {"apply"}),
        ({"apply": 18}, set()),
        ({"apply": 18}, {"apply"}),
        ({}, set()),
        ({"apply": 0}, set()),
        ({"apply": 0}, set()),
    ]


def test_a_store_that_a_fault_has_stopped_is_not_asked() -> None:
    sampler, follower, stopped = Stack().sampler(), Follower([{("out", 0): 12}, {("out", 0): 30}]), set[str]()
    sampler.followers, sampler.stopped = {"apply": follower}, lambda: stopped
    sampler.look(1)
    stopped.add(TRIPLE_STORE)
    assert (sampler.look(1).sample.waiting, sampler.not_answered, len(follower.said)) == ({"apply": 18}, {"apply"}, 1)
    stopped.clear()
    assert (sampler.look(1).sample.waiting, sampler.not_answered) == ({"apply": 0}, set())


def test_another_part_that_does_not_answer_ends_the_look() -> None:
    sampler = Stack().sampler()
    sampler.followers = {"apply": Follower([PartError("gone", "kafka")], part="kafka")}
    with pytest.raises(PartError, match="gone"):
        sampler.look(1)
