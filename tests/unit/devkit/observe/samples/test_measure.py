"""Figures from samples made by hand."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.figures import Answers, Figures, FlatCommit
from devkit.observe.samples.measure import flat_commit, measure, use_of
from devkit.observe.samples.sample import NOTHING_SEEN, ProgramUse, Sample
from tests.unit.devkit.observed import some_latencies


def sample(at_s: float, committed: int = 0, end: int = 100, **changes: Any) -> Sample:
    """The first process runs its query, unless it is said otherwise."""
    plain = NOTHING_SEEN.model_copy(update={"at_s": at_s, "committed": committed, "source_end": end, "process": 1})
    return plain.model_copy(update=changes)


def measured(samples: Sequence[Sample], **changes: Any) -> Figures:
    values: dict[str, Any] = {
        "fault_over": None,
        "traffic_over_s": None,
        "peak_queue": 0,
        "deferred_ever": 0,
        "latencies": some_latencies(),
    }
    return measure(samples, **(values | changes))


def test_counts_are_those_of_the_last_sample() -> None:
    last = sample(2, requests=30, fetches=12, max_attempt=4, by_status={"200": 9, "504": 21}, parses=8, abandoned=6)
    figures = measured([sample(1, requests=3), last], peak_queue=7, deferred_ever=5)
    assert (figures.requests, figures.fetches, figures.max_attempt, figures.amplification) == (30, 12, 4, 2.5)
    assert (figures.parses, figures.abandoned, figures.abandoned_share) == (8, 6, 0.75)
    assert (figures.peak_queue, figures.deferred_ever) == (7, 5)
    assert figures.answers == Answers(by_status={"200": 9, "504": 21}, success_rate=0.3)


def test_what_there_was_nothing_to_measure_of_is_none() -> None:
    figures = measured([sample(1)])
    assert (figures.amplification, figures.abandoned_share, figures.answers.success_rate) == (None, None, None)
    assert (figures.answers_after_fault, figures.flat_commit, figures.mean_cpu_cores) == (None, None, None)
    assert figures.latency.p50_s is None


def test_latencies_of_healthy_events_only_where_they_are_known() -> None:
    known = some_latencies(0.5)
    assert measured([sample(1)], latencies=known).healthy_latency == known.figures()
    assert measured([sample(1)], latencies=replace(known, pages_matched=None)).healthy_latency is None


def test_use_of_the_machine() -> None:
    looks = ((0, 9.0, 5), (1, 1.0, 8), (4, 0.2, 6))
    figures = measured([sample(at, cpu_cores=cores, memory_bytes=memory) for at, cores, memory in looks])
    assert figures.peak_memory_bytes == 8
    assert figures.mean_cpu_cores == pytest.approx((1.0 * 1 + 0.2 * 3) / 4)


class TestAfterTheFault:
    """Ten requests a second, all refused until 5 s of the upstream's clock, which began 2 s into the arm."""

    SAMPLES = tuple(
        sample(
            float(at),
            upstream_clock_s=at - 2.0 if at >= 2 else None,
            by_status={"504": 10 * min(max(at - 2, 0), 5), "200": 10 * max(at - 7, 0)},
        )
        for at in range(15)
    )

    @pytest.mark.parametrize(
        ("fault_over_s", "traffic_over_s", "answers"),
        [
            (5, 10, Answers(by_status={"200": 30}, success_rate=1.0)),
            (3, 10, Answers(by_status={"200": 30, "504": 20}, success_rate=0.6)),
            # To the arm's end where the traffic went on.
            (5, None, Answers(by_status={"200": 70}, success_rate=1.0)),
            *((*times, None) for times in ((None, 10), (8, 10), (9, 10), (60, None))),
        ],
    )
    def test_from_the_faults_end_to_the_traffics(
        self, fault_over_s: float | None, traffic_over_s: float | None, answers: Answers | None
    ) -> None:
        over = None if fault_over_s is None else timedelta(seconds=fault_over_s)
        found = measured(self.SAMPLES, fault_over=over, traffic_over_s=traffic_over_s)
        assert found.answers_after_fault == answers


def flat(samples: Sequence[Sample]) -> FlatCommit:
    found = flat_commit(samples)
    assert found is not None
    return found


class TestFlatCommit:
    # Offsets that are committed and their end, by the second; of each look a process runs its query, or none does.
    GROWS = (sample(0), sample(2), sample(3, 50), sample(5, 50), sample(9.5, 50), sample(10, 60), sample(11, 60))
    IDLE = (sample(0, 50, 50), sample(8, 50, 50), sample(9, 50, 60), sample(10, 50, 60), sample(11, 60, 60))
    STARTS = (sample(0, process=None), sample(8, process=None), sample(9), sample(11), sample(12, 50))
    RESTARTS = (sample(0), sample(5), sample(6, process=None), sample(10, process=2), sample(15, process=2))

    @pytest.mark.parametrize(
        ("samples", "from_s", "duration_s", "committed"),
        [(GROWS, 3, 6.5, 50), (IDLE, 9, 1, 50), (STARTS, 9, 2, 0), (RESTARTS, 0, 15, 0)],
        ids=[
            "the longest time without a commit",
            "only while there is something to commit",
            "from the first query on, as until then a JVM starts in every arm",
            "over restarts",
        ],
    )
    def test_is_the_longest_time(
        self, samples: tuple[Sample, ...], from_s: float, duration_s: float, committed: int
    ) -> None:
        found = flat(samples)
        assert (found.from_s, found.duration_s, found.committed) == (from_s, duration_s, committed)
        assert found.source_end in (60, 100)

    @pytest.mark.parametrize(
        ("times", "possible"),
        [
            ([(0, 50), (1, 50), (2, 50), (12, 60), (13, 60)], 12),  # its end is hidden
            ([(0, 50), (10, 60), (11, 60), (12, 70)], 11),  # when it began is hidden
            ([(0, 50), (10, 60), (20, 70)], 20),  # nobody saw two looks alike
            ([(0, 50), (3, 50), (4, 60), (5, 60)], None),
        ],
    )
    def test_where_no_look_was_taken_it_may_have_been_longer(
        self, times: list[tuple[float, int]], possible: float | None
    ) -> None:
        assert flat([sample(at, committed) for at, committed in times]).at_most_s == possible

    def test_cores_are_those_of_running_queries(self) -> None:
        """A start at 2 cores and a process that idles: the start is left out, and so is the step into a new process."""
        looks = ((1, 5), (1, 0.3), (1, 0.1), (None, 0.0), (None, 2.0), (2, 2.0), (2, 0.1))
        found = flat([sample(at, process=process, cpu_cores=cores) for at, (process, cores) in enumerate(looks)])
        assert found.median_cpu_cores == 0.1
        assert found.mean_cpu_cores == pytest.approx(0.5 / 3, abs=0.001)

    def test_no_cores_are_known_where_no_query_ran_for_a_sample(self) -> None:
        found = flat([sample(0), sample(5, process=None), sample(9, process=2)])
        assert (found.median_cpu_cores, found.mean_cpu_cores) == (None, None)

    @pytest.mark.parametrize(
        "samples",
        [
            [],
            [sample(0)],
            [sample(0, 1), sample(1, 2), sample(2, 3)],
            [sample(0, process=None), sample(9, process=None)],
        ],
    )
    def test_there_may_be_none(self, samples: list[Sample]) -> None:
        assert flat_commit(samples) is None

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=25))
    def test_is_the_longest_pair_with_nothing_but_the_same_offset_between(
        self, steps: list[tuple[int, int, bool]]
    ) -> None:
        samples = [
            sample(float(at), committed, committed + lag, process=1 if runs else None)
            for at, (committed, lag, runs) in enumerate(steps)
        ]
        begun = next((n for n, one in enumerate(samples) if one.process is not None), len(samples))
        longest = max(
            (
                last - first
                for first in range(begun, len(samples))
                for last in range(first + 1, len(samples))
                if all(one.lag > 0 and one.committed == samples[first].committed for one in samples[first : last + 1])
            ),
            default=0,
        )
        flat = flat_commit(samples)
        assert (flat.duration_s if flat else 0) == longest


def test_what_one_of_several_programs_used_while_it_ran() -> None:
    def use(cores: float, memory: int) -> dict[str, ProgramUse]:
        return {"reader": ProgramUse(processes=1, cpu_cores=cores, memory_bytes=memory)}

    samples = [sample(1), sample(2, programs=use(0.5, 10)), sample(4, programs=use(0.2, 30)), sample(9)]
    assert use_of(samples, "reader") == (30, 0.3)
    assert use_of(samples, "once") == (None, None)
