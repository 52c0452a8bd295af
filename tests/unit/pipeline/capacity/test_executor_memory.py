import pytest

from pipeline.capacity.costs import Costs
from pipeline.capacity.load import Load
from pipeline.capacity.sizing import executors_for, least_memory, plan
from pipeline.config.pipeline_config import MIB
from pipeline.errors import RefusedError
from tests.unit.pipeline.capacity.asking import configured

CONFIG = configured()


def test_more_in_flight_takes_more_memory_and_more_executors_less_of_it() -> None:
    one = least_memory(CONFIG, 4, 1, 256 * MIB)
    assert least_memory(CONFIG, 4, 1, 512 * MIB) > one > least_memory(CONFIG, 4, 4, 256 * MIB)


def test_as_many_executors_as_it_takes_and_no_more() -> None:
    limit = least_memory(CONFIG, 4, 5, 2048 * MIB)
    assert executors_for(limit, CONFIG, 4, 2048 * MIB) == 5
    assert executors_for(limit - MIB, CONFIG, 4, 2048 * MIB) > 5


def test_an_executor_that_is_too_small_for_anything_is_refused_with_what_would_do() -> None:
    with pytest.raises(RefusedError, match="is too small for 4 slots: they take at least") as refused:
        executors_for(100 * MIB, CONFIG, 4, 2048 * MIB)
    assert refused.value.hint


def test_a_plan_has_executors_for_its_memory() -> None:
    load = Load(10, page_bytes=2 * MIB)
    free = plan(20, load, CONFIG, Costs(), cores=4, slots=4).sizes
    limit = least_memory(CONFIG, 4, 3 * free.executors, free.in_flight_bytes)
    bound = plan(20, load, CONFIG, Costs(), cores=4, slots=4, memory_limit=limit).sizes
    assert bound.executors == bound.executors_by["memory"] == 3 * free.executors
    assert free.memory > bound.memory == limit
