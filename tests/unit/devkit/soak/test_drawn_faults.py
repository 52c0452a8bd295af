from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from devkit.soak.drawn_faults import LEAST, STARTS, draw_faults
from devkit.soak.lanes import UPDATER_LANES

seeds = st.integers(0, 10**9)
lengths = st.integers(60, 3600).map(lambda seconds: timedelta(seconds=seconds))
MINUTES = timedelta(minutes=10)


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
