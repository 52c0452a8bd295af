import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.time_series import Of, TimeSeries, between, figure, waiting

RISING: TimeSeries = ((0, 2), (30, 5), (60, 8), (90, 11), (120, 14))


@pytest.mark.parametrize(("of", "value"), [("last", 14), ("highest", 14), ("lowest", 2), ("mean", 8), ("slope", 6)])
def test_one_number_of_a_course(of: Of, value: float) -> None:
    assert figure(RISING, of) == pytest.approx(value)
    assert figure((), of) is None


def test_few_points_have_no_slope_and_both_ends_belong_to_a_part() -> None:
    assert figure(RISING[:4], "slope") is None
    assert figure(((1, 2),) * 9, "slope") is None
    assert between(RISING, 30, 90) == ((30, 5), (60, 8), (90, 11))


@given(st.floats(-1e6, 1e6), st.floats(-1e3, 1e3), st.lists(st.integers(0, 999), min_size=5, max_size=50, unique=True))
def test_the_slope_of_a_line_is_the_lines(begin: float, a_second: float, times: list[int]) -> None:
    line = tuple((float(at_s), begin + a_second * at_s) for at_s in times)
    assert figure(line, "slope") == pytest.approx(60 * a_second, abs=0.01)


def test_what_has_begun_and_not_ended_waits() -> None:
    spans = [(1.0, 3.0), (2.0, None), (2.5, 2.75)]
    assert waiting(spans, [0, 1, 2, 2.5, 3, 9]) == ((0, 0), (1, 1), (2, 2), (2.5, 3), (3, 1), (9, 1))
