from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import WorkBounds
from pipeline.fetch.worker_bounds import config_of_worker, work_bounds


@given(st.integers(1, 300), st.integers(1, 10**9), st.integers(1, 16))
def test_the_shares_of_all_workers_are_within_the_bounds(
    make_config: Callable[..., PipelineConfig], requests: int, size: int, workers: int
) -> None:
    """Except that each worker may do something."""
    given_bounds = {"concurrency": requests, "max_in_flight_bytes": size}
    fetch = config_of_worker(make_config(fetch=given_bounds), workers).fetch
    assert 1 <= fetch.concurrency <= max(1, requests / workers)
    assert 1 <= fetch.max_in_flight_bytes <= max(1, size / workers)


def test_nothing_else_is_divided(make_config: Callable[..., PipelineConfig]) -> None:
    config = make_config(fetch={"concurrency": 40})
    assert config_of_worker(config, 4) == make_config(fetch={"concurrency": 10, "max_in_flight_bytes": "64MiB"})


def test_what_is_said_at_the_start(make_config: Callable[..., PipelineConfig]) -> None:
    assert work_bounds(make_config(), 2) == WorkBounds(
        workers=2,
        requests=64,
        bytes=128 * 1024 * 1024,
        slow_round_requests=16,
        slow_round_bytes=64 * 1024 * 1024,
        trial_requests=10,
    )


@pytest.mark.parametrize("off", [{"breaker": {"policy": "none"}}, {"deferral": {"policy": "none"}}])
def test_without_breakers_nothing_is_tried(make_config: Callable[..., PipelineConfig], off: dict[str, Any]) -> None:
    assert work_bounds(make_config(**off), 2).trial_requests is None


def test_no_bound_is_none_for_each_worker_too(make_config: Callable[..., PipelineConfig]) -> None:
    config = make_config(fetch={"max_in_flight_bytes": "none"})
    assert config_of_worker(config, 4).fetch.in_flight_bound == float("inf")
    assert work_bounds(config, 4).bytes is None
