"""How much memory the planned work takes in an executor, by what `run --memory-limit` would make of it."""

from collections.abc import Callable

from pipeline.capacity.costs import MIB
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.memory.division import derive

_MOST = 1 << 40


def least_memory(config: PipelineConfig, slots: int, executors: int, in_flight_bytes: int) -> int:
    """Bytes, in whole MiB, that each of the executors needs at least when it has its part of what is in flight."""
    own = _with_in_flight(config, in_flight_bytes // executors)
    return MIB * _least(lambda size: _fits(size * MIB, slots, own), most=_MOST // MIB)


def executors_for(limit: int, config: PipelineConfig, slots: int, in_flight_bytes: int) -> int:
    """How many executors of the given bytes hold what is in flight. Raises RefusedError when none is large enough."""
    derive(limit, slots, _with_in_flight(config, 1), place="executor")  # says itself what would do
    most = max(2, in_flight_bytes)
    return _least(lambda count: _fits(limit, slots, _with_in_flight(config, in_flight_bytes // count)), most=most)


def _with_in_flight(config: PipelineConfig, in_flight_bytes: int) -> PipelineConfig:
    return config.model_copy(
        update={"fetch": config.fetch.model_copy(update={"max_in_flight_bytes": max(1, in_flight_bytes)})}
    )


def _fits(limit: int, slots: int, config: PipelineConfig) -> bool:
    try:
        derive(limit, slots, config, place="executor")
    except RefusedError:
        return False
    return True


def _least(is_enough: Callable[[int], bool], *, most: int) -> int:
    """The lowest number from 1 that is enough, when all above it are; `most` is."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
