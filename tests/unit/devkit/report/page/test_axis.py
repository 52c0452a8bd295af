from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.page.axis import linear, logarithmic, time_ticks
from devkit.report.page.numbers import Unit, duration, figure, moment, number, tick

POSITIVE = st.floats(1e-4, 1e7)


class TestLinear:
    @pytest.mark.parametrize(
        ("highest", "ticks"),
        [(161, (0, 100, 200)), (60, (0, 20, 40, 60)), (1.3, (0, 0.5, 1, 1.5)), (3, (0, 1, 2, 3)), (0.2, (0, 0.1, 0.2))],
    )
    def test_ticks_are_round(self, highest: float, ticks: tuple[float, ...]) -> None:
        assert linear(highest).ticks == ticks

    def test_of_things_that_are_counted_there_is_no_half(self) -> None:
        assert linear(1, whole=True).ticks == (0, 1)

    @given(POSITIVE)
    def test_all_values_have_a_place(self, highest: float) -> None:
        scale = linear(highest)
        assert scale.ticks[-1] == pytest.approx(scale.high)
        assert highest <= scale.high * (1 + 1e-6) <= highest * 4
        assert (scale.at(0), scale.at(scale.high)) == (0, 1)
        assert 2 <= len(scale.ticks) <= 5

    def test_of_nothing_but_zeros(self) -> None:
        assert linear(0).at(0) == 0


class TestLogarithmic:
    def test_powers_of_ten(self) -> None:
        scale = logarithmic([0.012, 26.0])
        assert (scale.low, scale.high, scale.ticks) == (0.01, 50.0, (0.01, 0.1, 1.0, 10.0))

    def test_finer_ticks_where_those_would_be_few(self) -> None:
        assert logarithmic([0.06, 1.6]).ticks == (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

    @pytest.mark.parametrize("values", [[], [0.0], [-1.0], [2.0], [2.0, 2.0]])
    def test_values_without_a_range_have_an_axis_too(self, values: list[float]) -> None:
        scale = logarithmic(values)
        assert scale.low < scale.high
        assert len(scale.ticks) >= 2

    @given(st.lists(POSITIVE, min_size=1, max_size=20))
    def test_order_is_kept_and_all_values_fit(self, values: list[float]) -> None:
        scale = logarithmic(values)
        assert scale.low <= min(values) * (1 + 1e-6)
        assert scale.high >= max(values) * (1 - 1e-6)
        ordered = sorted(values)
        assert all(0 <= scale.at(a) <= scale.at(b) <= 1 for a, b in pairwise([*ordered, ordered[-1]]))
        assert all(a < b for a, b in pairwise(scale.ticks))
        assert len(scale.ticks) >= 2

    def test_nothing_lies_below_the_axis(self) -> None:
        assert logarithmic([1, 10]).at(0) == 0


@given(st.floats(0.1, 1e5))
def test_time_ticks_do_not_pass_the_end(duration_s: float) -> None:
    ticks = time_ticks(duration_s)
    assert ticks[0] == 0
    assert ticks[-1] <= duration_s * (1 + 1e-6)
    assert 3 <= len(ticks) <= 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (1, "1"), (1.004, "1"), (1.45, "1.45"), (1.5, "1.5"), (24.0004, "24"), (24.26, "24.3")),
        *((0.84, "0.84"), (0.0234, "0.023"), (0.0000012, "1.2e-06"), (123.4, "123"), (10_240.6, "10,241"), (-3, "-3")),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.0026, "2.6 ms"), (0.34, "340 ms"), (0.9999, "1 s"), (23.45, "23.4 s"), (600, "600 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "unit", "text", "on_axis"),
    [
        (0.34, "seconds", "340 ms", "340 ms"),
        (0.64, "percent", "64 %", "64 %"),
        (16.5, "per second", "16.5/s", "16.5"),
        (1024, "MiB", "1,024 MiB", "1,024"),
        (3, "events", "3", "3"),
    ],
)
def test_units(value: float, unit: Unit, text: str, on_axis: str) -> None:
    assert (figure(value, unit), tick(value, unit)) == (text, on_axis)


def test_a_moment_is_read_to_the_tenth() -> None:
    assert (moment(9.02), moment(9.06), moment(31.26)) == ("9", "9.1", "31.3")
