"""How long an entry rests. What the lanes do with events, `test_task` shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.lane import OPEN_FENCE, MainLane, Policy, SlowLane
from tests.unit.pipeline.deferral.making import entry

POLICY = Policy(inline_allowance_s=5, slow_deadline_s=120, total_attempts=3, backoff_base_s=10, backoff_cap_s=35)


@pytest.mark.parametrize(("attempt", "not_before_ms"), [(0, 11_000), (1, 21_000)])
def test_an_entry_that_failed_rests_longer_each_time(attempt: int, not_before_ms: int) -> None:
    again = SlowLane(POLICY).failed(entry(1, attempt=attempt), now_ms=1000, reason="slow")
    assert again == entry(1, stuck=True, attempt=attempt + 1, not_before_ms=not_before_ms, reason="slow")


@pytest.mark.parametrize(("asked_s", "backoff_ms"), [(5.0, 10_000), (30.5, 30_500), (60.0, 35_000), (1e9, 35_000)])
def test_what_the_upstream_asks_for_is_the_least_but_for_the_cap(asked_s: float, backoff_ms: int) -> None:
    again = SlowLane(POLICY).failed(entry(1), now_ms=0, reason="busy", retry_after_s=asked_s)
    assert again is not None
    assert again.not_before_ms == backoff_ms


@pytest.mark.parametrize(("first", "then"), [("output", "error"), ("error", "output")])
def test_a_page_writes_to_one_of_the_two_topics_in_a_batch_and_in_a_round(first: str, then: str) -> None:
    page, other = entry(0).page, entry(0, "other").page
    for lane in (MainLane(OPEN_FENCE), SlowLane(POLICY)):
        assert [lane.may_emit(page, to) for to in (first, first, then)] == [True, True, False]
        assert lane.may_emit(other, then)


@given(attempt=st.integers(-5, 10**9), base=st.floats(0, 1e6), cap=st.floats(0, 1e9))
def test_backoff_doubles_within_its_cap_and_never_shrinks(attempt: int, base: float, cap: float) -> None:
    policy = Policy(1, 1, 1, backoff_base_s=base, backoff_cap_s=cap)
    assert 0 <= policy.backoff_ms(attempt) <= policy.backoff_ms(attempt + 1) <= round(1000 * cap)
    assert [POLICY.backoff_ms(attempt) for attempt in (1, 2, 3, 4)] == [10_000, 20_000, 35_000, 35_000]
