"""A timestamp that a step of the time of day does not falsify."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.metrics.clocks import Clocks, Noted

SECONDS = st.integers(0, 10**6).map(float)


@given(SECONDS, st.floats(-0.9, 0.9))
def test_a_timestamp_stays_as_it_was_noted_while_both_clocks_go_on(passed: float, drift: float) -> None:
    clocks = Clocks(now=lambda: 1e9 + passed + drift, monotonic=lambda: 7 + passed)
    assert clocks.timestamp(Noted(1e9, 7)) == 1e9


@given(SECONDS, st.integers(2, 10**6), st.sampled_from([-1, 1]))
def test_by_a_clock_that_was_set_it_is_as_long_ago_as_it_is(passed: float, by: int, sign: int) -> None:
    clocks = Clocks(now=lambda: 1e9 + passed + sign * by, monotonic=lambda: 7 + passed)
    assert clocks.now() - clocks.timestamp(Noted(1e9, 7)) == passed


def test_a_note_has_both_clocks() -> None:
    assert Clocks(now=lambda: 3.0, monotonic=lambda: 4.0).note() == Noted(3.0, 4.0)
