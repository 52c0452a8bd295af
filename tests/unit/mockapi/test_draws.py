import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.draws import Draw, log_normal, uniform

texts = st.text(max_size=20)


@given(st.integers(), texts, texts, st.integers(min_value=1))
def test_a_draw_is_inside_the_unit_interval_and_repeatable(seed: int, rule: str, key: str, attempt: int) -> None:
    draw = Draw(seed, rule, key, attempt).uniform("latency")
    assert 0 < draw < 1
    assert draw == Draw(seed, rule, key, attempt).uniform("latency")


@pytest.mark.parametrize(
    "other", [Draw(2, "r", "k", 1), Draw(1, "s", "k", 1), Draw(1, "r", "l", 1), Draw(1, "r", "k", 2)]
)
def test_every_argument_matters(other: Draw) -> None:
    assert Draw(1, "r", "k", 1).uniform("latency") != other.uniform("latency")


def test_purposes_are_independent() -> None:
    draw = Draw(1, "r", "k", 1)
    assert draw.uniform("latency") != draw.uniform("status")


def test_where_one_part_ends_matters() -> None:
    assert uniform("ab", "c") != uniform("a", "bc")


@given(
    st.floats(0.001, 0.999).filter(lambda u: u == 0.99 or abs(u - 0.99) > 1e-6),
    st.floats(0.01, 100),
    st.just(1.0) | st.floats(1.001, 50),
)
def test_log_normal_has_the_percentiles_it_was_given(u: float, median: float, spread: float) -> None:
    p99 = median * spread
    assert log_normal(0.5, median, p99) == pytest.approx(median)
    assert log_normal(0.99, median, p99) == pytest.approx(p99)
    assert (log_normal(u, median, p99) <= p99 * (1 + 1e-9)) == (u <= 0.99 or spread == 1)


def test_draws_follow_the_distribution() -> None:
    values = [uniform("spread", n) for n in range(4_000)]
    assert sum(value < 0.25 for value in values) == pytest.approx(1_000, rel=0.1)
    assert sum(value > 0.99 for value in values) == pytest.approx(40, rel=0.5)
