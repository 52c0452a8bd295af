"""What events cost, which load they are, and the rate that each limit and quota allows."""

import json
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capacity.costs import MEASURED, MIB, Costs
from pipeline.capacity.limits import Forecast, forecast
from pipeline.capacity.load import Executors, Load
from pipeline.capacity.quota import QuotaLimit, bottleneck, cpu_limit, memory_limit, parse_cpu, quota_lines
from tests.unit.pipeline.capacity.asking import FREE, configured

PLACE = Executors(executors=1, cores=4, slots=5, partitions=4)
MANY = {"max_offsets": 1_000_000}


def limit(found: Forecast, name: str) -> float:
    return next(limit.rate for limit in found.limits if limit.name == name)


COSTS = replace(FREE, worker_s=0.001, worker_s_per_mib=0.01, jvm_s=0.001, elsewhere_s=0.002)
SLOW_LANE = {"slow_lane": {"pages": 10, "concurrency": 20, "backoff": "10s"}, "max_entries": 60}
SLOW = Load(0, requests=2, slow_share=0.1, slow_latency_s=20)
TENTHS = Load(0.001, requests=1, page_bytes=MIB // 10)
LARGE = Load(1, page_bytes=15 * MIB)


@pytest.mark.parametrize(
    ("fetch", "sections", "load", "costs", "name", "rate"),
    [
        pytest.param({"concurrency": 10}, {}, Load(1, requests=1), FREE, "requests in flight", 8, id="2 in each"),
        pytest.param({"concurrency": 10_000}, {}, TENTHS, COSTS, "Python workers", 4 / 0.002, id="a core for a worker"),
        pytest.param({"concurrency": 10_000}, {}, TENTHS, COSTS, "processors", 4 / 0.005, id="all cores together"),
        pytest.param(
            {"max_in_flight_bytes": "4MiB"}, {}, LARGE, FREE, "bytes in flight", 4, id="one record may exceed"
        ),
        pytest.param({"max_in_flight_bytes": "none"}, {}, LARGE, FREE, "bytes in flight", inf, id="without a bound"),
        pytest.param(
            {"concurrency": 4000}, {"deferral": SLOW_LANE}, SLOW, FREE, "slow lane", 10 / 20 / 0.1, id="slow lane"
        ),
        pytest.param(
            {"concurrency": 4000}, {"deferral": SLOW_LANE}, SLOW, FREE, "ledger", 60 / (10 + 30) / 0.1, id="ledger"
        ),
    ],
)
def test_the_rate_that_each_limit_allows(
    fetch: dict[str, Any], sections: dict[str, Any], load: Load, costs: Costs, name: str, rate: float
) -> None:
    found = forecast(configured(fetch=fetch, batch=MANY, **sections), load, PLACE, costs)
    assert found.workers == 4
    assert limit(found, name) == pytest.approx(rate, rel=1e-4)


def test_littles_law_gives_the_rate_of_so_many_in_flight() -> None:
    """The backfill: 400 in flight make 40 calls a second of 10 s."""
    config = configured(fetch={"concurrency": 400}, deferral={"inline_allowance": "20s"}, batch=MANY)
    found = forecast(config, Load(10, requests=1), PLACE, FREE)
    assert limit(found, "requests in flight") == pytest.approx(40)
    assert found.rate == pytest.approx(40)


@pytest.mark.parametrize(("partitions", "slots", "workers"), [(1, 5, 1), (4, 5, 4), (9, 5, 4), (9, 2, 1)])
def test_there_is_a_worker_for_each_partition_that_has_a_slot(partitions: int, slots: int, workers: int) -> None:
    found = forecast(configured(), Load(1), Executors(1, 4, slots, partitions), FREE)
    assert found.workers == workers, "one slot is the slow lane's"


def test_records_in_flight_fit_the_bytes_in_flight() -> None:
    config = configured(fetch={"concurrency": 400, "max_in_flight_bytes": "80MiB"}, batch=MANY)
    found = forecast(config, Load(2, page_bytes=5 * MIB), PLACE, FREE)
    assert found.bottleneck.name == "bytes in flight"
    assert found.bottleneck.rate == pytest.approx(4 * 2 / 2, rel=1e-3), (
        "two records of 10 MiB in each of four workers, for 2 s"
    )


def test_a_batch_costs_a_fixed_time_and_drains() -> None:
    config = configured(fetch={"concurrency": 400}, batch={"max_offsets": 1000})
    found = forecast(config, Load(1, requests=2), PLACE, replace(FREE, batch_s=0.5))
    assert found.batch_s == pytest.approx(0.5 + 5), "five waves of 200 events"
    assert found.rate == pytest.approx(1000 / 5.5)
    assert limit(found, "batches") == pytest.approx(1000 / 0.5), "as if there were no work"


def test_a_wave_that_is_not_full_takes_as_long() -> None:
    config = configured(fetch={"concurrency": 400}, batch={"max_offsets": 201})
    assert forecast(config, Load(1, requests=2), PLACE, FREE).batch_s == pytest.approx(2)


def test_a_trigger_makes_batches_wait() -> None:
    config = configured(batch={"max_offsets": 100, "trigger": "10s"})
    assert forecast(config, Load(0.01), PLACE, FREE).rate == pytest.approx(10)


def test_a_batch_with_a_slow_page_lasts_as_long_as_its_allowance() -> None:
    config = configured(fetch={"concurrency": 4000}, batch={"max_offsets": 1000})
    load = Load(0.1, slow_share=0.01, slow_latency_s=40)
    assert 5 <= forecast(config, load, PLACE, FREE).batch_s < 5.3


def test_slow_pages_that_are_not_put_aside_need_no_slow_lane() -> None:
    names = {
        limit.name
        for config in (configured(), configured(deferral={"policy": "none"}))
        for limit in forecast(config, Load(1, slow_share=0.1, slow_latency_s=4), PLACE, FREE).limits
    }
    assert not names & {"slow lane", "ledger"}


@given(st.integers(1, 64), st.integers(1, 5000), st.integers(1, 50_000), st.floats(0.001, 30), st.floats(0, 0.2))
def test_more_of_anything_never_makes_it_slower(
    partitions: int, concurrency: int, offsets: int, latency_s: float, share: float
) -> None:
    """But for what comes in whole numbers: a share of the requests that is not whole is rounded down."""
    load = Load(latency_s, slow_share=share, slow_latency_s=2 * latency_s)
    config = configured(fetch={"concurrency": concurrency}, batch={"max_offsets": offsets}, deferral={"policy": "none"})
    double = configured(
        fetch={"concurrency": 2 * concurrency}, batch={"max_offsets": offsets}, deferral={"policy": "none"}
    )
    place = Executors(1, 4, 64, partitions)
    rate = forecast(config, load, place, Costs()).rate
    assert forecast(double, load, place, Costs()).rate >= rate * (1 - 1e-9)
    assert forecast(config, load, replace(place, cores=8), Costs()).rate >= rate * (1 - 1e-9)
    assert forecast(config, load, place, replace(Costs(), worker_s=0, batch_s=0)).rate >= rate * (1 - 1e-9)


def test_an_event_fetches_all_its_pages() -> None:
    assert Load(1, requests=2, page_bytes=50).event_bytes == 100


def test_a_slow_request_holds_its_slot_until_it_is_put_aside() -> None:
    load = Load(1, requests=2, slow_share=0.1, slow_latency_s=40)
    assert load.slot_s(5) == pytest.approx(1 + 0.1 * 4 / 2), "one of its two, 4 s longer"
    assert load.slot_s(100) == pytest.approx(1 + 0.1 * 39 / 2), "nothing is deferred"
    assert load.slot_s(0.5) == 1


@given(st.floats(0.001, 60), st.floats(0, 1), st.floats(0, 100), st.floats(0.001, 100))
def test_a_slot_is_held_for_a_usual_request(latency_s: float, share: float, slow_s: float, allowance_s: float) -> None:
    assert Load(latency_s, slow_share=share, slow_latency_s=slow_s).slot_s(allowance_s) >= latency_s


def test_a_place_has_what_all_its_executors_have() -> None:
    place = Executors(executors=3, cores=2, slots=5, partitions=8)
    assert (place.all_cores, place.all_slots) == (6, 15)


REPOSITORY = Path(__file__).parents[4]
IN_THE_PIPELINE = ("worker_s", "worker_s_per_mib", "jvm_s", "jvm_s_per_mib", "batch_s")


@pytest.mark.parametrize("name", IN_THE_PIPELINE)
def test_what_is_reckoned_with_is_what_was_measured(name: str) -> None:
    measured = json.loads((REPOSITORY / MEASURED).read_text())["costs"]
    assert asdict(Costs())[name] == pytest.approx(measured[name], rel=0.25)


def test_nobody_else_is_on_the_cores_in_production() -> None:
    assert Costs().elsewhere_s == Costs().elsewhere_s_per_mib == 0


def test_an_event_costs_what_it_is_and_what_it_weighs() -> None:
    costs = Costs(worker_s=1, worker_s_per_mib=2, jvm_s=4, jvm_s_per_mib=8, elsewhere_s=16, elsewhere_s_per_mib=32)
    assert costs.worker(MIB // 2) == 2
    assert costs.everything(MIB // 2) == 1 + 4 + 16 + (2 + 8 + 32) / 2


@pytest.mark.parametrize(
    ("text", "thousandths"), [("2", 2000), ("0.5", 500), ("1.25", 1250), ("0.001", 1), ("200m", 200), ("0", 0)]
)
def test_cpu_is_written_as_kubernetes_does(text: str, thousandths: int) -> None:
    assert parse_cpu(text) == thousandths


@pytest.mark.parametrize("text", ["", "m", "-1", "2 cores", "0.0005", "1.5m", "1e3"])
def test_what_is_no_cpu_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write 2, 0\.5 or 500m"):
        parse_cpu(text)


CPU = cpu_limit(10_000, executor=2000, driver=1000, sidecar=250)
MEMORY = memory_limit(10_240 * MIB + 1, executor=2047 * MIB + 1, driver=1024 * MIB, sidecar=0)


@pytest.mark.parametrize(
    ("needed", "limits", "lines"),
    [
        pytest.param(
            3,
            [CPU, MEMORY],
            [
                "  CPU          3 x (2 + sidecar 0.25) + driver 1 + sidecar 0.25 = 8 of 10; (10 - 1.25) / 2.25 = 3.89",
                "  memory, MiB  3 x 2,048 + driver 1,024 = 7,168 of 10,240; (10,240 - 1,024) / 2,048 = 4.50",
                "fits: 3 executors needed, 3 fit; bottleneck: CPU",
            ],
            id="as many as fit",
        ),
        pytest.param(
            5,
            [MEMORY],
            [
                "  memory, MiB  5 x 2,048 + driver 1,024 = 11,264 of 10,240; (10,240 - 1,024) / 2,048 = 4.50",
                "does not fit: 5 executors needed, 4 fit; bottleneck: memory",
            ],
            id="one too many, by the only limit",
        ),
        pytest.param(
            1,
            [cpu_limit(1000, executor=1000, driver=1000, sidecar=500)],
            [
                "  CPU  1 x (1 + sidecar 0.5) + driver 1 + sidecar 0.5 = 3 of 1; (1 - 1.5) / 1.5 = -0.33",
                "does not fit: 1 executor needed, 0 fit; bottleneck: CPU",
            ],
            id="no room for the driver",
        ),
    ],
)
def test_the_sum_is_shown(needed: int, limits: list[QuotaLimit], lines: list[str]) -> None:
    assert list(quota_lines(needed, limits)) == ["in the namespace's quota:", *lines]


@pytest.mark.parametrize(
    ("limit", "fitting"), [(1250, 0), (3499, 0), (3500, 1), (5750, 2), (1249, -1)], ids=lambda value: f"{value}"
)
def test_an_executor_fits_as_a_whole_or_not_at_all(limit: int, fitting: int) -> None:
    assert cpu_limit(limit, executor=2000, driver=1000, sidecar=250).fitting == fitting


def test_the_bottleneck_has_the_fewest() -> None:
    assert bottleneck([MEMORY, CPU]) is CPU
