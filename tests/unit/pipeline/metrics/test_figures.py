"""Figures add up in any order and any grouping, and nothing is counted twice or forgotten."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.metrics.catalogue import (
    BATCH_SECONDS,
    EVENTS,
    FETCH_SECONDS,
    FETCHES,
    IN_FLIGHT_PEAK,
    MEMORY,
    Metric,
)
from pipeline.metrics.figures import Figures, FiguresParam, Histogram, Level, Recorder

EDGES = FETCH_SECONDS.bounds
# Binary fractions, so that sums are exact whatever their order.
SECONDS = st.integers(0, 2**12).map(lambda number: number / 16)


@st.composite
def recorded(draw: st.DrawFn) -> Figures:
    recorder = Recorder(now=lambda: float(draw(st.integers(0, 9))))
    for _ in range(draw(st.integers(0, 6))):
        recorder.count(
            draw(st.sampled_from([EVENTS, FETCHES])), draw(st.sampled_from("ab")), by=draw(st.integers(1, 9))
        )
        recorder.observe(draw(st.sampled_from([FETCH_SECONDS, BATCH_SECONDS])), draw(SECONDS))
        recorder.set(MEMORY, draw(st.integers(0, 9)), draw(st.sampled_from("ab")))
    return recorder.drain()


@given(recorded(), recorded(), recorded())
def test_neither_order_nor_grouping_matters(a: Figures, b: Figures, c: Figures) -> None:
    assert a.plus(b) == b.plus(a)
    assert a.plus(b).plus(c) == a.plus(b.plus(c))
    assert a.plus(Figures()) == a


@given(recorded(), recorded())
def test_a_sum_leaves_its_parts_as_they_were(a: Figures, b: Figures) -> None:
    before = cloudpickle.loads(cloudpickle.dumps(a))
    a.plus(b)
    assert a == before


@given(st.lists(SECONDS))
def test_each_value_is_in_one_bucket(values: list[float]) -> None:
    recorder = Recorder()
    for value in values:
        recorder.observe(FETCH_SECONDS, value)
    for histogram in recorder.figures().histograms.values():
        assert sum(histogram.counts) == len(values)
        assert histogram.total == sum(values)
        for edge, count in zip(EDGES, histogram.counts, strict=False):
            below = max((lower for lower in EDGES if lower < edge), default=-1.0)
            assert count == sum(1 for value in values if below < value <= edge)


def test_what_is_drained_is_gone_and_what_is_raised_stays() -> None:
    recorder = Recorder(now=lambda: 5.0)
    recorder.count(FETCHES, "ok")
    for by in (1, 1, 1, -1):
        recorder.raise_(IN_FLIGHT_PEAK, by=by)
    first = recorder.drain()
    assert first.counts == {(FETCHES.name, ("ok",)): 1}
    assert first.levels == {(IN_FLIGHT_PEAK.name, ()): Level(5.0, 3)}
    assert recorder.drain().levels == {(IN_FLIGHT_PEAK.name, ()): Level(5.0, 2)}
    recorder.raise_(IN_FLIGHT_PEAK, by=-2)
    recorder.drain()
    assert recorder.drain() == Figures()


def test_of_levels_the_newest_stands() -> None:
    key = (MEMORY.name, ("jvm",))
    old, new = Figures(levels={key: Level(1.0, 99)}), Figures(levels={key: Level(2.0, 1)})
    assert old.plus(new).levels[key].value == 1
    assert new.plus(old).levels[key].value == 1


def test_a_peak_is_the_highest_since_the_last_drain() -> None:
    recorder = Recorder()
    for value in (3, 7, 5):
        recorder.peak(IN_FLIGHT_PEAK, value)
    assert [level.value for level in recorder.drain().levels.values()] == [7]
    assert recorder.drain() == Figures()


def test_an_accumulator_can_carry_them() -> None:
    recorder = Recorder()
    recorder.observe(FETCH_SECONDS, 0.3)
    param = cloudpickle.loads(cloudpickle.dumps(FiguresParam()))
    figures = cloudpickle.loads(cloudpickle.dumps(recorder.drain()))
    total = param.addInPlace(param.addInPlace(param.zero(figures), figures), figures)
    assert total.histograms == {(FETCH_SECONDS.name, ()): Histogram(_two_at(0.3, FETCH_SECONDS), 0.6)}


def _two_at(value: float, metric: Metric) -> tuple[int, ...]:
    edges = [-1.0, *metric.bounds, float("inf")]
    return tuple(2 if low < value <= high else 0 for low, high in pairwise(edges))
