import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine.race import stretch
from benchmarks.engine.usage import Usage


def test_the_steady_part_leaves_out_start_and_tail() -> None:
    times_ms = [*range(1_000), *[5_000] * 20]
    steady = stretch(times_ms, 0.10, 0.95)
    assert (steady.begin_ms, steady.end_ms) == (102, 968)
    assert steady.rate == 1_000


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=200))
def test_counts_the_records_within(times_ms: list[int]) -> None:
    times_ms.sort()
    steady = stretch(times_ms, 0.10, 0.95)
    assert steady.count == sum(steady.begin_ms < at <= steady.end_ms for at in times_ms)


def test_between_two_looks_in_proportion() -> None:
    usage = Usage({}, 0.0, [(10.0, {"mock": 1.0}), (20.0, {"mock": 3.0, "engine": 4.0})])
    assert usage.between(15.0, 20.0) == pytest.approx({"mock": 1.0, "engine": 2.0})
    assert usage.between(0.0, 99.0) == pytest.approx({"mock": 2.0, "engine": 4.0})
