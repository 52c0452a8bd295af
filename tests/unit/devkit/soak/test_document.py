from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.programs.stack_job import DEFAULT, RDF_UPDATER
from devkit.scenario.load import load_file
from devkit.soak.document import faults_of, soak_text
from devkit.soak.drawn_faults import LEAST, STARTS, draw_faults
from devkit.soak.lanes import UPDATER_LANES
from mockapi.rules.book import plan_for
from pipeline.config.deferral_section import Deferral

seeds = st.integers(0, 10**9)
lengths = st.integers(60, 3600).map(lambda seconds: timedelta(seconds=seconds))
MINUTES = timedelta(minutes=10)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("job", "expected"),
    [(DEFAULT, {"drained", "audit"}), (RDF_UPDATER, {"drained", "audit", "store_matches"})],
)
def test_what_is_drawn_is_a_scenario_that_check_accepts(
    job: str, expected: set[str], seed: int, tmp_path: Path
) -> None:
    file = tmp_path / "soak.yaml"
    length = timedelta(minutes=2)
    file.write_text(soak_text(seed, length, job))
    scenario = load_file(file).scenario
    assert [item.name for item in scenario.timeline] == [one.name for one in faults_of(seed, length, job)]
    assert scenario.kafka.brokers == 3
    assert scenario.traffic.seed == seed
    assert {expectation.kind for expectation in scenario.expected_of("fixed")} == expected


def test_a_slow_page_outlasts_what_a_batch_waits_for(tmp_path: Path) -> None:
    """Otherwise nothing is deferred, and neither ledger nor slow lane has a part in any soak."""
    file = tmp_path / "soak.yaml"
    file.write_text(soak_text(6, timedelta(minutes=2), DEFAULT))
    scenario = load_file(file).scenario
    rules = [rule for rule in scenario.mock.rules if rule.when.page in (None, "Slow")]
    assert {"slow page", "a parser's times"} == {rule.name for rule in rules}
    for attempt in range(1, 20):
        latency = plan_for(rules, seed=6, key="a request", attempt=attempt).latency
        assert latency is not None
        assert latency > Deferral().inline_allowance
        # Events of one page are fetched one after the other: a soak of any length has to drain.
        assert 10 * scenario.traffic.pages["Slow"].share * latency.total_seconds() < 0.7


@given(seeds, lengths)
def test_all_begin_when_the_program_runs_and_end_before_the_traffic(seed: int, length: timedelta) -> None:
    for fault in draw_faults(seed, length):
        assert fault.at >= STARTS
        assert fault.at + (fault.lasts or timedelta()) <= length * 0.9 + timedelta(seconds=0.2)


@given(seeds)
def test_one_part_is_away_at_a_time_of_three_brokers_and_names_are_unique(seed: int) -> None:
    faults = draw_faults(seed, MINUTES)
    away = [one for one in faults if set(one.do) & {"pause", "kill", "restart"}]
    for one, next_one in pairwise(away):
        assert one.at + (one.lasts or timedelta()) < next_one.at
    assert len({one.name for one in faults}) == len(faults)


@given(seeds, lengths)
def test_a_seed_gives_the_same_faults_and_another_seed_others(seed: int, length: timedelta) -> None:
    assert draw_faults(seed, length) == draw_faults(seed, length)
    assert draw_faults(seed, MINUTES) != draw_faults(seed + 1, MINUTES)


def test_the_shortest_soak_has_faults_under_most_seeds() -> None:
    assert sum(bool(draw_faults(seed, LEAST)) for seed in range(100)) > 90


def test_every_kind_of_fault_is_drawn_sooner_or_later() -> None:
    drawn = {kind for seed in range(30) for one in draw_faults(seed, MINUTES) for kind in one.do}
    assert drawn >= {
        "kafka_error",
        "pause",
        "kill",
        "restart",
        "move_leader",
        "client_quota",
        "network_cut",
        "network_blackhole",
    }
    of_updater = [one for seed in range(30) for one in draw_faults(seed, MINUTES, UPDATER_LANES)]
    killed = {one.do[kind]["program"] for one in of_updater for kind in one.do if kind == "kill_process"}
    assert killed == {"decide", "resolve", "apply"}
    assert drawn >= {"store_error", "store_slow", "kill_process", "stop_process", "cpu_load"}
