import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.upstream.buckets import Buckets, Limit


class Time:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_begins_full_and_fills_at_its_rate() -> None:
    time = Time()
    buckets, limit = Buckets(time), Limit(2.0, burst=3)
    assert [buckets.take("r", limit, "a") for _ in range(4)] == [0, 0, 0, 0.5]
    time.now += 0.5
    assert [buckets.take("r", limit, "b") for _ in range(2)] == [0, 0.5]
    time.now += 99
    assert [buckets.take("r", limit, "a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.left() == {"r": 0.0}


def test_each_client_and_each_rule_has_its_own() -> None:
    buckets, limit = Buckets(Time()), Limit(1.0, by_client=True)
    assert [buckets.take("r", limit, client) for client in "aab"] == [0, 1, 0]
    assert buckets.take("s", limit, "a") == 0


def test_the_bucket_used_longest_ago_is_forgotten_first() -> None:
    buckets, limit = Buckets(Time(), limit=2), Limit(1.0, by_client=True)
    assert [buckets.take("r", limit, client) for client in "abacab"] == [0, 0, 1, 0, 1, 0]


@given(st.integers(1, 50), st.integers(1, 20), st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_never_more_than_burst_and_rate_allow(rate: int, burst: int, gaps: list[float]) -> None:
    time = Time()
    buckets, limit = Buckets(time), Limit(float(rate), burst)
    begin, passed = time.now, 0
    for gap in gaps:
        time.now += gap
        wait_s = buckets.take("r", limit, "")
        passed += wait_s == 0
        assert 0 <= wait_s <= 1 / rate + 1e-9
        assert passed <= burst + (time.now - begin) * rate + 1e-6


def test_who_waits_as_told_gets_through() -> None:
    time = Time()
    buckets, limit = Buckets(time), Limit(3 / 60)
    assert buckets.take("r", limit, "") == 0
    wait_s = buckets.take("r", limit, "")
    assert wait_s == pytest.approx(20)
    time.now += wait_s + 1e-6
    assert buckets.take("r", limit, "") == 0
