from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.histogram import difference, percentile

EDGES = (0.005, 0.05, 0.5, 5.0)


def test_nothing_counted_has_no_percentiles() -> None:
    assert percentile(0.5, EDGES, (0, 0, 0, 0)) is None
    assert percentile(0.5, (), ()) is None


def test_a_bucket_is_taken_to_be_spread_evenly() -> None:
    assert percentile(0.5, EDGES, (0, 0, 10, 0)) == pytest.approx(0.275)
    assert percentile(1, EDGES, (0, 0, 10, 0)) == 0.5
    assert percentile(0.5, EDGES, (10, 0, 0, 0)) == pytest.approx(0.0025)


def test_what_lies_above_the_last_edge_is_given_as_it() -> None:
    assert percentile(0.99, EDGES, (1, 0, 0, 0, 99)) == 5.0


def test_a_difference_is_what_was_counted_since() -> None:
    assert difference((3, 5), (1, 5)) == (2, 0)
    assert difference((3, 5), ()) == (3, 5)


def test_counts_that_went_down_have_begun_anew() -> None:
    assert difference((1, 5), (3, 2)) == (1, 5)


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
