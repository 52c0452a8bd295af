from hypothesis import given
from hypothesis import strategies as st

from pipeline.fetch.retry_budget import RetryBudget, Unlimited


@given(share=st.sampled_from([0.0, 0.1, 0.25, 1.0]), burst=st.integers(0, 20), retries=st.lists(st.booleans()))
def test_retries_stay_within_burst_and_share(share: float, burst: int, retries: list[bool]) -> None:
    budget = RetryBudget(share, burst)
    first = made = 0
    for is_retry in retries:
        if is_retry:
            made += budget.spend()
        else:
            budget.earn()
            first += 1
        assert made <= burst + share * first + 1e-6


def test_ten_requests_earn_a_retry() -> None:
    budget = RetryBudget(0.1, 1)
    assert budget.spend()
    for _ in range(10):
        assert not budget.spend()
        budget.earn()
    assert budget.spend()
    assert budget.denied == 10


def test_saved_retries_are_bounded() -> None:
    budget = RetryBudget(1.0, 3)
    for _ in range(100):
        budget.earn()
    assert [budget.spend() for _ in range(4)] == [True, True, True, False]


def test_no_budget_denies_nothing() -> None:
    assert all(Unlimited().spend() for _ in range(100))
