"""The settings and executors that a rate needs."""

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.capacity.costs import Costs
from pipeline.capacity.load import Load
from pipeline.capacity.sizing import executors_for, least_memory, plan
from pipeline.config.pipeline_config import MIB
from pipeline.errors import RefusedError
from tests.unit.pipeline.capacity.asking import FREE, configured


@given(
    rate=st.floats(0.1, 20_000),
    latency_s=st.floats(0.001, 30),
    requests=st.integers(1, 4),
    page_bytes=st.integers(0, 4_000_000),
    slow_share=st.floats(0, 0.2),
    slow_latency_s=st.floats(0, 100),
    cores=st.integers(1, 32),
    headroom=st.floats(1.05, 4),
)
# So few slow pages that their number is none.
@example(rate=1, latency_s=1, requests=1, page_bytes=0, slow_share=5e-324, slow_latency_s=6, cores=1, headroom=2)
def test_what_is_planned_reaches_the_rate(
    rate: float,
    latency_s: float,
    requests: int,
    page_bytes: int,
    slow_share: float,
    slow_latency_s: float,
    cores: int,
    headroom: float,
) -> None:
    load = Load(latency_s, requests, page_bytes, slow_share, slow_latency_s)
    found = plan(rate, load, configured(), Costs(), cores=cores, slots=cores, headroom=headroom)
    assert found.forecast.rate >= rate
    assert found.place.all_slots >= found.sizes.slots
    assert found.forecast.workers == found.place.partitions == found.sizes.workers


def test_it_has_the_incidents_400_in_flight_for_40_calls_of_10_seconds() -> None:
    found = plan(40, Load(10, requests=1), configured(), FREE)
    assert found.sizes.requests == pytest.approx(400)
    assert found.config.fetch.concurrency == 600, "half as many again, as a batch fills and drains"
    assert found.sizes.workers == 6, "100 in each"


def test_usual_pages_are_not_deferred_by_it() -> None:
    found = plan(40, Load(40, requests=1), configured(), FREE)
    config = found.config
    assert config.deferral.inline_allowance == timedelta(seconds=80)
    assert config.fetch.request_timeout == config.fetch.deadline == timedelta(seconds=80)
    assert found.settings["deferral"] == {"inline_allowance": timedelta(seconds=80)}
    assert config.effective_stop_timeout >= config.deferral.inline_allowance


def test_what_is_enough_already_is_not_written() -> None:
    found = plan(10, Load(0.04), configured(), Costs())
    assert {section: set(keys) for section, keys in found.settings.items()} == {
        "fetch": {"concurrency"},
        "batch": {"max_offsets"},
    }


def test_slow_pages_get_rounds_and_room_in_the_ledger() -> None:
    load = Load(0.04, slow_share=0.01, slow_latency_s=40)
    found = plan(1000, load, configured(), Costs())
    lane = found.config.deferral.slow_lane
    assert lane.rounds * lane.pages / 41 >= 10, "a hundredth of 1000 events a second, in rounds of 40 s and a little"
    assert found.config.deferral.max_entries >= 1000 * 0.01 * 40
    assert found.sizes.slots == found.sizes.workers + lane.rounds


def test_what_slots_or_processors_need_makes_the_executors() -> None:
    waiting = plan(400, Load(10), configured(), Costs(), cores=4, slots=4).sizes
    assert waiting.executors == waiting.executors_by["slots"] > waiting.executors_by["processors"]
    assert plan(400, Load(10), configured(), Costs(), cores=4, slots=8).sizes.executors < waiting.executors
    busy = plan(4000, Load(0.01, page_bytes=1_000_000), configured(), Costs(), cores=1, slots=4).sizes
    assert busy.executors == busy.executors_by["processors"] > busy.executors_by["slots"]


TOO_SLOW = "never end within deferral.slow_lane.deadline 120 s"


@pytest.mark.parametrize(
    ("rate", "load", "sections", "headroom", "why", "hint"),
    [
        pytest.param(10, Load(1, slow_share=0.1, slow_latency_s=121), {}, 1.5, TOO_SLOW, "", id="slow pages"),
        pytest.param(
            *(10, Load(60), {"stop_timeout": "30s"}, 1.5, "stop_timeout", "change that in the file of --config"),
            id="contradicts the configuration",
        ),
        pytest.param(
            *(1000, Load(0.04), {"batch": {"trigger": "10m"}}, 1.5, "batches allows", ""), id="a trigger that binds"
        ),
        # Nothing would be left for a batch.
        pytest.param(1, Load(1), {}, 1, "headroom 1 is not above 1", "", id="no headroom"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    rate: float, load: Load, sections: dict[str, Any], headroom: float, why: str, hint: str
) -> None:
    with pytest.raises(RefusedError, match=re.escape(why)) as refused:
        plan(rate, load, configured(**sections), Costs(), headroom=headroom)
    assert refused.value.hint
    assert hint in refused.value.hint


def test_without_a_bound_it_is_the_planned_pages_that_take_memory() -> None:
    load = Load(10, requests=1, page_bytes=1_000_000)
    found = plan(40, load, configured(fetch={"max_in_flight_bytes": "none"}), FREE)
    pages = found.sizes.workers * found.sizes.of_each
    assert pages * 1_000_000 <= found.sizes.in_flight_bytes < (pages + 2) * 1_000_000


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
