from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.arm_record import Span
from devkit.report.page.series import Points, joined, known, rate, share, thinned

VALUES = st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=900)


def spaced(values: list[float | None]) -> Points:
    return tuple((n * 0.5, value) for n, value in enumerate(values))


class TestThinned:
    @given(VALUES, st.integers(5, 400))
    def test_it_is_short_enough_and_in_order(self, values: list[float | None], most: int) -> None:
        points = spaced(values)
        kept = thinned(points, most)
        assert len(kept) <= most or kept == points
        assert all(a[0] < b[0] for a, b in pairwise(kept))
        assert set(kept) <= set(points)

    @given(VALUES, st.integers(5, 50))
    def test_ends_and_extremes_stay(self, values: list[float | None], most: int) -> None:
        points = spaced(values)
        kept = thinned(points, most)
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        if known(points):
            for extreme in (min, max):
                assert extreme(value for _, value in known(kept)) == extreme(value for _, value in known(points))

    def test_a_short_series_is_left_alone(self) -> None:
        points = spaced([1, None, 3])
        assert thinned(points) == points

    def test_a_gap_stays_one(self) -> None:
        assert any(value is None for _, value in thinned(spaced([*range(600), None, *range(600)]), 40))

    def test_too_few_points_are_refused(self) -> None:
        with pytest.raises(ValueError, match="4 points cannot show a series"):
            thinned(spaced([1] * 9), 4)


class TestRate:
    def test_of_a_steady_counter(self) -> None:
        assert {value for _, value in rate([(n * 0.5, n * 5.0) for n in range(20)])} == {10.0}

    def test_a_burst_is_spread_over_the_window(self) -> None:
        counter = [(n * 0.5, 48.0 if n >= 10 else 0.0) for n in range(20)]
        found = dict(rate(counter, 2.0))
        assert (found[4.5], found[5.0], found[6.5], found[7.0]) == (0.0, 24.0, 24.0, 0.0)

    def test_a_counter_that_begins_anew_is_no_negative_rate(self) -> None:
        assert [value for _, value in rate([(0, 100), (1, 110), (2, 5)], 0.5)] == [10.0, 0.0]

    @pytest.mark.parametrize("counter", [[], [(0.0, 5.0)], [(0.0, 5.0), (0.0, 9.0)]])
    def test_where_no_time_passed_there_is_none(self, counter: list[tuple[float, float]]) -> None:
        assert rate(counter) == ()

    @given(st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 100)), min_size=2, max_size=60))
    def test_it_never_exceeds_the_fastest_step(self, steps: list[tuple[float, int]]) -> None:
        at_s, count, counter = 0.0, 0, [(0.0, 0.0)]
        for step_s, more in steps:
            at_s, count = at_s + step_s, count + more
            counter.append((at_s, float(count)))
        fastest = max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(counter))
        assert all(value is not None and -1e-9 <= value <= fastest * (1 + 1e-6) for _, value in rate(counter))


def test_a_share_is_of_what_was_added_in_the_window() -> None:
    found = share([0, 1, 2, 2, 2], [0, 2, 4, 8, 8], [0, 1, 2, 3, 5], 1.0)
    assert found == ((1, 0.5), (2, 0.5), (3, 0.0), (5, None))


LENGTHS = st.lists(st.tuples(st.floats(0.1, 9), st.floats(0, 9)), max_size=200)


def laid_out(lengths: list[tuple[float, float]]) -> list[Span]:
    """Spans by their gap before and their length."""
    spans: list[Span] = []
    at_s = 0.0
    for number, (gap_s, length_s) in enumerate(lengths):
        spans.append(Span(at_s + gap_s, at_s + gap_s + length_s, f"{number}"))
        at_s = spans[-1].end_s
    return spans


@given(LENGTHS, st.integers(1, 30))
def test_few_spans_cover_all(lengths: list[tuple[float, float]], most: int) -> None:
    spans = laid_out(lengths)
    merged = joined(spans, most)
    assert len(merged) == min(len(spans), most)
    assert all(any(cover.begin_s <= span.begin_s and span.end_s <= cover.end_s for cover in merged) for span in spans)
    assert all(a.end_s < b.begin_s for a, b in pairwise(merged))


def test_the_widest_gap_stays() -> None:
    spans = laid_out([(0.5, 1), (1, 1), (5, 1), (1, 1)])
    assert joined(spans, 2) == (Span(0.5, 3.5, "0"), Span(8.5, 11.5, "2"))
