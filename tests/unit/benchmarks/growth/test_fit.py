import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.growth.fit import error, exponent


@given(st.floats(-1, 3), st.floats(0.001, 1000))
def test_the_exponent_of_a_power_is_found(power: float, factor: float) -> None:
    assert exponent({size: factor * size**power for size in (10, 100, 1000)}) == pytest.approx(power, abs=1e-6)


def test_what_is_fixed_is_left_out_below_the_least() -> None:
    costs = {10: 5.0, 100: 5.0, 1000: 10.0, 10_000: 100.0}
    assert exponent(costs, least=1000) == pytest.approx(1)
    assert exponent(costs) < 0.5


def test_an_error_is_told_as_a_share_of_what_was_measured() -> None:
    assert error(120, 100) == pytest.approx(0.2)
    assert error(80, 100) == pytest.approx(-0.2)
