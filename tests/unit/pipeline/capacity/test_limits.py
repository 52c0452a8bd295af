from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capacity.costs import MIB, Costs
from pipeline.capacity.limits import Forecast, forecast
from pipeline.capacity.load import Executors, Load
from tests.unit.pipeline.capacity.asking import FREE, configured

PLACE = Executors(executors=1, cores=4, slots=5, partitions=4)
MANY = {"max_offsets": 1_000_000}


def limit(found: Forecast, name: str) -> float:
    return next(limit.rate for limit in found.limits if limit.name == name)


def test_littles_law_gives_the_rate_of_so_many_in_flight() -> None:
    """The backfill: 400 in flight make 40 calls a second of 10 s."""
    config = configured(fetch={"concurrency": 400}, deferral={"inline_allowance": "20s"}, batch=MANY)
    found = forecast(config, Load(10, requests=1), PLACE, FREE)
    assert limit(found, "requests in flight") == pytest.approx(40)
    assert found.rate == pytest.approx(40)


def test_each_worker_has_its_share_of_what_may_be_in_flight() -> None:
    config = configured(fetch={"concurrency": 10}, batch=MANY)
    found = forecast(config, Load(1, requests=1), PLACE, FREE)
    assert found.workers == 4
    assert limit(found, "requests in flight") == pytest.approx(8), "2 in each of 4"


@pytest.mark.parametrize(("partitions", "slots", "workers"), [(1, 5, 1), (4, 5, 4), (9, 5, 4), (9, 2, 1)])
def test_there_is_a_worker_for_each_partition_that_has_a_slot(partitions: int, slots: int, workers: int) -> None:
    found = forecast(configured(), Load(1), Executors(1, 4, slots, partitions), FREE)
    assert found.workers == workers, "one slot is the slow lane's"


def test_a_worker_uses_one_core_and_all_together_those_there_are() -> None:
    costs = replace(FREE, worker_s=0.001, worker_s_per_mib=0.01, jvm_s=0.001, elsewhere_s=0.002)
    config = configured(fetch={"concurrency": 10_000}, batch=MANY)
    found = forecast(config, Load(0.001, requests=1, page_bytes=MIB // 10), PLACE, costs)
    assert limit(found, "Python workers") == pytest.approx(4 / 0.002, rel=1e-4)
    assert limit(found, "processors") == pytest.approx(4 / 0.005, rel=1e-4)


def test_records_in_flight_fit_the_bytes_in_flight() -> None:
    config = configured(fetch={"concurrency": 400, "max_in_flight_bytes": "80MiB"}, batch=MANY)
    found = forecast(config, Load(2, page_bytes=5 * MIB), PLACE, FREE)
    assert found.bottleneck.name == "bytes in flight"
    assert found.bottleneck.rate == pytest.approx(4 * 2 / 2, rel=1e-3), (
        "two records of 10 MiB in each of four workers, for 2 s"
    )


def test_one_record_may_always_exceed_the_bytes() -> None:
    config = configured(fetch={"max_in_flight_bytes": "4MiB"}, batch=MANY)
    assert limit(forecast(config, Load(1, page_bytes=15 * MIB), PLACE, FREE), "bytes in flight") == pytest.approx(4)


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


def test_the_slow_lane_and_the_ledger_hold_up_the_main_lane_in_the_end() -> None:
    lane = {"pages": 10, "concurrency": 20, "backoff": "10s"}
    config = configured(fetch={"concurrency": 4000}, batch=MANY, deferral={"slow_lane": lane, "max_entries": 60})
    load = Load(0, requests=2, slow_share=0.1, slow_latency_s=20)
    found = forecast(config, load, PLACE, FREE)
    assert limit(found, "slow lane") == pytest.approx(10 / 20 / 0.1)
    assert limit(found, "ledger") == pytest.approx(60 / (10 + 30) / 0.1)


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


def test_without_a_bound_bytes_are_no_bottleneck() -> None:
    config = configured(fetch={"max_in_flight_bytes": "none"}, batch=MANY)
    assert limit(forecast(config, Load(10, page_bytes=15 * MIB), PLACE, FREE), "bytes in flight") == float("inf")
