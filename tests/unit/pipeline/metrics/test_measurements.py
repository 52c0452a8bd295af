"""Measurements add up in any order and any grouping, and nothing is counted twice or forgotten."""

import os
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.metrics.catalogue import BATCH_SECONDS, EVENTS, FETCH_SECONDS, FETCHES, IN_FLIGHT_PEAK, MEMORY, Metric
from pipeline.metrics.measurements import HERE, Histogram, Measurements, MeasurementsParam, Origin, Recorder
from pipeline.metrics.worker_metrics import resident_bytes

EDGES = FETCH_SECONDS.bounds
# Binary fractions, so that sums are exact whatever their order.
SECONDS = st.integers(0, 2**12).map(lambda number: number / 16)


MEMORY_OF_JVM = (MEMORY.name, ("jvm",))


@st.composite
def recorded(draw: st.DrawFn) -> Measurements:
    recorder = Recorder()
    for _ in range(draw(st.integers(0, 6))):
        recorder.count(
            draw(st.sampled_from([EVENTS, FETCHES])), draw(st.sampled_from("ab")), by=draw(st.integers(1, 9))
        )
        recorder.observe(draw(st.sampled_from([FETCH_SECONDS, BATCH_SECONDS])), draw(SECONDS))
        recorder.set(MEMORY, draw(st.integers(0, 9)), draw(st.sampled_from("ab")))
    return recorder.drain().measured_in(Origin(draw(st.integers(0, 3)), draw(st.sampled_from("vw"))))


@given(recorded(), recorded(), recorded(), st.integers(1, 3))
def test_neither_order_nor_grouping_matters(a: Measurements, b: Measurements, c: Measurements, stages: int) -> None:
    def plus(one: Measurements, other: Measurements) -> Measurements:
        return one.plus(other, stages=stages)

    assert plus(a, b) == plus(b, a)
    assert plus(plus(a, b), c) == plus(a, plus(b, c))
    assert plus(a, Measurements()) == a


@given(recorded(), recorded())
def test_a_sum_leaves_its_parts_as_they_were(a: Measurements, b: Measurements) -> None:
    before = cloudpickle.loads(cloudpickle.dumps(a))
    a.plus(b)
    assert a == before


@given(st.lists(SECONDS))
def test_each_value_is_in_one_bucket(values: list[float]) -> None:
    recorder = Recorder()
    for value in values:
        recorder.observe(FETCH_SECONDS, value)
    for histogram in recorder.measurements().histograms.values():
        assert sum(histogram.counts) == len(values)
        assert histogram.total == sum(values)
        for edge, count in zip(EDGES, histogram.counts, strict=False):
            below = max((lower for lower in EDGES if lower < edge), default=-1.0)
            assert count == sum(1 for value in values if below < value <= edge)


def test_what_is_drained_is_gone_and_what_is_raised_stays() -> None:
    recorder = Recorder()
    recorder.count(FETCHES, "ok")
    for by in (1, 1, 1, -1):
        recorder.raise_(IN_FLIGHT_PEAK, by=by)
    first = recorder.drain()
    assert first.counts == {(FETCHES.name, ("ok",)): 1}
    assert first.levels == {(IN_FLIGHT_PEAK.name, ()): {HERE: 3}}
    assert recorder.drain().levels == {(IN_FLIGHT_PEAK.name, ()): {HERE: 2}}
    recorder.raise_(IN_FLIGHT_PEAK, by=-2)
    recorder.drain()
    assert recorder.drain() == Measurements()


def memory(value: float, stage: int, worker: str) -> Measurements:
    return Measurements(levels={MEMORY_OF_JVM: {Origin(stage, worker): value}})


def test_a_level_is_that_of_all_workers_together() -> None:
    of_a_batch = memory(5, 7, "v").plus(memory(3, 7, "w")).plus(memory(4, 7, "v"))
    assert of_a_batch.level(MEMORY_OF_JVM) == 8, "a worker that ran two tasks counts with its highest"


def test_a_worker_that_ran_nothing_of_the_newest_stage_does_not_count() -> None:
    """However high it was, and whenever it tells."""
    before, after = memory(99, 7, "v").plus(memory(98, 7, "w")), memory(1, 8, "w")
    assert before.plus(after).level(MEMORY_OF_JVM) == 1
    assert after.plus(before).level(MEMORY_OF_JVM) == 1


def test_of_stages_that_run_at_once_each_counts_and_a_worker_only_with_its_newest() -> None:
    param, measurements = MeasurementsParam(stages=2), Measurements()
    for part in (memory(50, 6, "u"), memory(5, 7, "v"), memory(9, 7, "w"), memory(3, 8, "w")):
        measurements = param.addInPlace(measurements, part)
    assert measurements.level(MEMORY_OF_JVM) == 5 + 3


def test_a_peak_is_the_highest_since_the_last_drain() -> None:
    recorder = Recorder()
    for value in (3, 7, 5):
        recorder.peak(IN_FLIGHT_PEAK, value)
    assert recorder.drain().level((IN_FLIGHT_PEAK.name, ())) == 7
    assert recorder.drain() == Measurements()


def test_an_accumulator_can_carry_them() -> None:
    recorder = Recorder()
    recorder.observe(FETCH_SECONDS, 0.3)
    param = cloudpickle.loads(cloudpickle.dumps(MeasurementsParam()))
    measurements = cloudpickle.loads(cloudpickle.dumps(recorder.drain()))
    total = param.addInPlace(param.addInPlace(param.zero(measurements), measurements), measurements)
    assert total.histograms == {(FETCH_SECONDS.name, ()): Histogram(_two_at(0.3, FETCH_SECONDS), 0.6)}


def _two_at(value: float, metric: Metric) -> tuple[int, ...]:
    edges = [-1.0, *metric.bounds, float("inf")]
    return tuple(2 if low < value <= high else 0 for low, high in pairwise(edges))


def test_the_second_figure_counts_in_pages(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("9000 25 12 1 0 77 0\n")
    assert resident_bytes(proc=tmp_path) == 25 * os.sysconf("SC_PAGE_SIZE")


def test_of_a_process_that_is_not_there_nothing_is_known(tmp_path: Path) -> None:
    assert resident_bytes(4, proc=tmp_path) is None


def test_what_is_no_figure_is_none(tmp_path: Path) -> None:
    (tmp_path / "4").mkdir()
    (tmp_path / "4" / "statm").write_text("?")
    assert resident_bytes(4, proc=tmp_path) is None
