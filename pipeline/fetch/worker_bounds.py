"""What one Python worker of the main lane may have under way, of what the configuration allows an executor."""

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import WorkBounds


def config_of_worker(config: PipelineConfig, workers: int) -> PipelineConfig:
    """The configuration with the bounds of `fetch` divided by the number of workers, each at least 1."""

    def share(bound: int) -> int:
        return max(1, bound // workers)

    fetch = config.fetch
    bounds = {
        "concurrency": share(fetch.concurrency),
        "max_in_flight_bytes": "none" if fetch.max_in_flight_bytes == "none" else share(fetch.max_in_flight_bytes),
    }
    return config.model_copy(update={"fetch": fetch.model_copy(update=bounds)})


def work_bounds(config: PipelineConfig, workers: int) -> WorkBounds:
    """Bounds of the work in flight in each Python worker, as they are logged at the start."""
    fetch, slow_lane = config_of_worker(config, workers).fetch, config.deferral.slow_lane
    has_breakers = config.breaker.policy == "wait" and config.deferral.policy == "defer"
    return WorkBounds(
        workers=workers,
        requests=fetch.concurrency,
        bytes=None if fetch.max_in_flight_bytes == "none" else fetch.max_in_flight_bytes,
        slow_round_requests=slow_lane.concurrency,
        slow_round_bytes=slow_lane.max_in_flight_bytes,
        trial_requests=workers * config.breaker.trial_requests if has_breakers else None,
    )
