"""What a worker may do at once, how often it may retry, and for how long a record may take."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.events import WorkBounds
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.retry_budget import RetryBudget, Unlimited
from pipeline.fetch.worker_bounds import config_of_worker, work_bounds
from tests.unit.pipeline.making import make_config


@given(st.integers(1, 300), st.integers(1, 10**9), st.integers(1, 16))
def test_the_shares_of_all_workers_are_within_the_bounds(requests: int, size: int, workers: int) -> None:
    """Except that each worker may do something."""
    given_bounds = {"concurrency": requests, "max_in_flight_bytes": size}
    fetch = config_of_worker(make_config(fetch=given_bounds), workers).fetch
    assert 1 <= fetch.concurrency <= max(1, requests / workers)
    assert 1 <= fetch.max_in_flight_bytes <= max(1, size / workers)


def test_nothing_else_is_divided() -> None:
    config = make_config(fetch={"concurrency": 40})
    assert config_of_worker(config, 4) == make_config(fetch={"concurrency": 10, "max_in_flight_bytes": "64MiB"})


def test_what_is_said_at_the_start() -> None:
    assert work_bounds(make_config(), 2) == WorkBounds(
        workers=2,
        requests=64,
        bytes=128 * 1024 * 1024,
        slow_round_requests=16,
        slow_round_bytes=64 * 1024 * 1024,
        trial_requests=10,
    )


@pytest.mark.parametrize("off", [{"breaker": {"policy": "none"}}, {"deferral": {"policy": "none"}}])
def test_without_breakers_nothing_is_tried(off: dict[str, Any]) -> None:
    assert work_bounds(make_config(**off), 2).trial_requests is None


def test_no_bound_is_none_for_each_worker_too() -> None:
    config = make_config(fetch={"max_in_flight_bytes": "none"})
    assert config_of_worker(config, 4).fetch.in_flight_bound == float("inf")
    assert work_bounds(config, 4).bytes is None


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


def test_the_clock_starts_with_the_first_request_and_only_once() -> None:
    now = 100.0
    deadline = Deadline(5, lambda: now)
    now = 200.0
    assert (deadline.has_begun, deadline.remaining_s()) == (False, 5)
    deadline.begin()
    now = 203.0
    deadline.begin()
    assert (deadline.has_begun, deadline.remaining_s()) == (True, 2)
    now = 206.0
    assert deadline.remaining_s() == -1
