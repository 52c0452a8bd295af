from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.headroom.window import SHORTEST_S, HeadroomSample, Slow, over, worst
from tests.unit.devkit.headroom.readings import samples


def sample(from_s: float, to_s: float, slowdown: float) -> HeadroomSample:
    return HeadroomSample(from_s=from_s, to_s=to_s, slowdown=slowdown)


SLOWDOWNS = st.lists(st.floats(1, 50), min_size=1, max_size=40)


def test_a_single_stall_counts_for_what_it_was() -> None:
    stalled = sample(0, 1, 1.0), sample(1, 11, 500.0), sample(11, 12, 1.0)
    assert over(stalled, 0, 12) == pytest.approx(5002 / 12)


def test_over_takes_parts_of_samples() -> None:
    assert over(samples(1, 4), 0.5, 1.5) == pytest.approx(2.5)


def test_nothing_is_known_of_where_nothing_was_sampled() -> None:
    assert over(samples(1, 4), 5, 6) is None
    assert worst((), 10) is None


GAP = (sample(0, 5, 10), sample(15, 20, 10))


@pytest.mark.parametrize(
    ("sampled", "length_s", "slow"),
    [
        pytest.param(samples(*[1] * 20, *[8] * 6, *[1] * 20), 6, Slow(20, 26, pytest.approx(8)), id="where it is"),
        pytest.param(
            samples(*[1] * 10, *[9] * 3, *[1] * 10),
            6.5,
            Slow(ANY, ANY, pytest.approx((3 * 9 + 3.5) / 6.5)),
            id="between the edges of samples",
        ),
        pytest.param(samples(2, 2, 2), 60, Slow(0, 3, pytest.approx(2)), id="all samples, if it is longer"),
        # `over` knows of the samples only, so the whole is judged by them.
        pytest.param(GAP, 20, Slow(ANY, ANY, pytest.approx(10)), id="the whole, with a gap"),
        pytest.param(GAP, 15, Slow(ANY, ANY, pytest.approx((5 * 10 + 10) / 15)), id="a gap counts as free"),
    ],
)
def test_the_worst_window_is_found(sampled: tuple[HeadroomSample, ...], length_s: float, slow: Slow) -> None:
    assert worst(sampled, length_s) == slow


def test_a_very_short_window_is_judged_as_a_longer_one() -> None:
    slow = worst(samples(*[1] * 20, 50, *[1] * 20), 0.1)
    assert slow is not None
    assert slow.to_s - slow.from_s == pytest.approx(SHORTEST_S)


@given(SLOWDOWNS, st.floats(5, 60))
def test_no_window_is_slower_than_the_worst(slowdowns: list[float], length_s: float) -> None:
    sampled = samples(*slowdowns)
    slow = worst(sampled, length_s)
    assert slow is not None
    assert 1 - 1e-6 <= slow.slowdown <= max(slowdowns) + 1e-6
    for tenth in range(0, max(1, round(10 * (len(slowdowns) - length_s))), 3):
        slowdown = over(sampled, tenth / 10, tenth / 10 + max(length_s, SHORTEST_S))
        assert slowdown is not None
        if tenth / 10 + length_s <= len(slowdowns):
            assert slowdown <= slow.slowdown + 1e-6
