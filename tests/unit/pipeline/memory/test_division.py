from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.errors import RefusedError
from pipeline.memory.division import (
    BODIES,
    COST_AT_WORK,
    COST_IN_FLIGHT,
    READER,
    WORKER,
    MemoryPlan,
    Place,
    applied,
    derive,
)
from tests.unit.pipeline.making import make_config

GIB = 1024 * MIB
SIZES = st.integers(1, 512 * MIB)
SECTIONS = st.fixed_dictionaries(
    {},
    optional={
        "fetch": st.fixed_dictionaries({}, optional={"max_in_flight_bytes": SIZES}),
        "claim_check": st.fixed_dictionaries({}, optional={"max_bytes": SIZES}),
        "result_buffer": SIZES,
        "deferral": st.fixed_dictionaries(
            {},
            optional={
                "policy": st.sampled_from(["defer", "none"]),
                "max_bytes": SIZES,
                "slow_lane": st.fixed_dictionaries(
                    {}, optional={"rounds": st.integers(1, 8), "max_in_flight_bytes": SIZES}
                ),
            },
        ),
        "source": st.fixed_dictionaries(
            {},
            optional={"read": st.sampled_from(["proportional", "aligned"]), "deduplicate": st.just({"within": "10m"})},
        ),
        "state": st.fixed_dictionaries(
            {},
            optional={"provider": st.sampled_from(["rocksdb", "heap"]), "max_bytes": st.integers(16 * MIB, 512 * MIB)},
        ),
        "sink": st.fixed_dictionaries({}, optional={"max.request.size": st.integers(1024, 256 * MIB)}),
    },
)
PLACES = st.sampled_from(["local", "executor"])


def plan_or_refusal(
    limit: int, slots: int, config: PipelineConfig, place: Place = "local"
) -> MemoryPlan | RefusedError:
    try:
        return derive(limit, slots, config, place=place)
    except RefusedError as error:
        return error


def least_of(error: RefusedError) -> int:
    """What the refusal says that works."""
    return int(str(error.hint).split("give it ")[1].split("MiB")[0]) * MIB


@given(limit=st.integers(1, 64 * GIB), slots=st.integers(1, 64), sections=SECTIONS, place=PLACES)
@example(limit=4 * GIB, slots=4, sections={}, place="local")
def test_the_sum_is_never_more_than_the_limit(limit: int, slots: int, sections: dict[str, Any], place: Place) -> None:
    plan = plan_or_refusal(limit, slots, make_config(**sections), place)
    if isinstance(plan, MemoryPlan):
        assert plan.total <= limit
        assert sum(part.size for part in plan.parts) == plan.total
        assert all(part.size >= 0 for part in plan.parts)


@given(slots=st.integers(1, 64), sections=SECTIONS, place=PLACES)
def test_what_a_refusal_names_works_and_1_mib_less_does_not(slots: int, sections: dict[str, Any], place: Place) -> None:
    config = make_config(**sections)
    refused = plan_or_refusal(1, slots, config, place)
    assert isinstance(refused, RefusedError)
    least = least_of(refused)
    assert isinstance(plan_or_refusal(least, slots, config, place), MemoryPlan)
    assert isinstance(plan_or_refusal(least - MIB, slots, config, place), RefusedError)


@given(limit=st.integers(8 * GIB, 64 * GIB), more=st.integers(0, 8 * GIB), slots=st.integers(1, 8))
def test_more_memory_never_makes_a_setting_smaller(limit: int, more: int, slots: int) -> None:
    smaller, larger = (derive(size, slots, make_config()) for size in (limit, limit + more))
    assert all(larger.settings[key] >= value for key, value in smaller.settings.items())
    assert larger.heap >= smaller.heap


@given(sections=SECTIONS, limit=st.integers(16 * GIB, 64 * GIB))
def test_what_the_configuration_says_itself_stands(sections: dict[str, Any], limit: int) -> None:
    config = make_config(**sections)
    plan = plan_or_refusal(limit, 2, config)
    if isinstance(plan, RefusedError):
        return
    made = applied(config, plan)
    for section, key in (("fetch", "max_in_flight_bytes"), ("claim_check", "max_bytes")):
        configured = sections.get(section, {}).get(key)
        if configured is not None:
            assert getattr(getattr(made, section), key) == configured
    assert made.result_buffer == sections.get("result_buffer", plan.results)
    assert made.model_copy(update={"fetch": config.fetch}).source == config.source


def test_a_state_in_rocksdb_is_part_of_the_sum_and_one_in_the_heap_is_not() -> None:
    source = {"deduplicate": {"within": "10m"}}
    plan = derive(4 * GIB, 4, make_config(source=source))
    assert plan.settings["state.max_bytes"] == plan.state
    assert 32 * MIB <= plan.state <= 64 * MIB
    assert applied(make_config(source=source), plan).state.max_bytes == plan.state
    own = derive(4 * GIB, 4, make_config(source=source, state={"max_bytes": "200MiB"}))
    assert own.state == 200 * MIB
    for config in (make_config(), make_config(source=source, state={"provider": "heap"})):
        plan = derive(4 * GIB, 4, config)
        assert plan.state == 0
        assert "state.max_bytes" not in plan.settings
        assert applied(config, plan).state == config.state


def test_the_documented_example() -> None:
    """A page of 17 MiB, the incident's, and more than what 128 requests for usual pages have in flight."""
    plan = derive(4 * GIB, 4, make_config())
    assert plan.body > 17_300_219
    assert plan.in_flight > 128 * 2 * 100 * 1024
    assert plan.total > 0.95 * 4 * GIB, "nothing much is left unused"
    assert plan.workers == 4 * (WORKER + COST_AT_WORK * BODIES * plan.body + plan.results) + COST_IN_FLIGHT * (
        plan.in_flight + plan.slow_round
    )


def test_a_limit_that_is_too_small_says_what_is_enough() -> None:
    with pytest.raises(RefusedError, match=r"--memory-limit 1024MiB is too small for 4 slots: they take at least \d+"):
        derive(GIB, 4, make_config())


def test_a_setting_that_does_not_fit_is_named() -> None:
    config = make_config(fetch={"max_in_flight_bytes": "1GiB"})
    with pytest.raises(RefusedError, match=r"no room for fetch.max_in_flight_bytes 1024MiB: with that") as caught:
        derive(4 * GIB, 4, config)
    assert "to have it derived" in str(caught.value.hint)


def test_no_slow_rounds_take_no_memory() -> None:
    plan = derive(4 * GIB, 4, make_config(deferral={"policy": "none"}))
    assert plan.rounds == 0
    assert "slow rounds" not in [part.what for part in plan.parts]
    assert plan.in_flight > derive(4 * GIB, 4, make_config()).in_flight


def test_what_has_no_bound_fits_into_no_limit() -> None:
    with pytest.raises(RefusedError, match=r"fetch\.max_in_flight_bytes is none.*not 4096MiB either") as refused:
        derive(4 * GIB, 4, make_config(fetch={"max_in_flight_bytes": "none"}))
    assert refused.value.hint == "remove it, to have it derived"


@pytest.mark.parametrize(("place", "readers"), [("local", 5), ("executor", 4)])
def test_what_reads_beside_the_workers_has_its_part(place: Place, readers: int) -> None:
    """The planner is beside the driver."""
    plan = derive(6 * GIB, 4, make_config(source={"read": "aligned"}), place=place)
    assert plan.readers == readers
    assert {part.what: part.size for part in plan.parts}["readers and planner"] == readers * READER
    assert sum(part.size for part in plan.parts) == plan.total <= 6 * GIB
    assert derive(6 * GIB, 4, make_config(), place=place).readers == 0
