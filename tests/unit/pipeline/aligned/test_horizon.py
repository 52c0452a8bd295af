"""Planning by event time: of any backlog each offset is read once, and nothing passes its batch's horizon."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.planned_log import PlannedLog

A, B, C = (SourcePartition(topic, 0) for topic in "abc")
ANY_TIME = st.integers(1, 200)
ANY_ORDER = st.lists(st.none() | ANY_TIME, max_size=30)
IN_ORDER = st.lists(ANY_TIME, max_size=30).map(sorted)


def logs(times: st.SearchStrategy[Any]) -> st.SearchStrategy[PlannedLog]:
    """Backlogs of up to four partitions, all of them silent for long enough."""
    parts = st.dictionaries(st.sampled_from(list("abcd")), times, min_size=1)
    return parts.map(lambda found: PlannedLog.of(found, idle=frozenset(SourcePartition(one, 0) for one in found)))


SLICES, BOUNDS = st.integers(1, 60), st.integers(1, 20)


BOUND, SLICE = {"max_offsets": 21}, {"slice_ms": 300}


@pytest.mark.parametrize(
    ("times", "idle", "limits", "horizon_ms", "ends", "ended_by"),
    [
        pytest.param(
            {"a": [0, 3, 9, 10], "b": [5, 15, 25], "c": [90]}, (), {}, 10, {A: 3, B: 1, C: 0}, "slice", id="at one time"
        ),
        pytest.param(
            {"a": [None, None], "b": [None, 5, None]}, {A}, {}, 6, {A: 2, B: 3}, "end", id="behind empty offsets"
        ),
        pytest.param(
            {"a": [7] * 99, "b": [7] * 99, "c": [7]},
            (),
            BOUND,
            8,
            {A: 10, B: 10, C: 1},
            "max_offsets",
            id="one is shared",
        ),
        pytest.param(
            {"a": range(500)}, (), SLICE | {"max_offsets": None}, 300, {A: 300}, "slice", id="at the slice, unbounded"
        ),
        pytest.param({"a": range(500)}, (), SLICE, 300, {A: 300}, "slice", id="at the slice, with a large bound"),
        pytest.param(
            {"a": [0, 5, 6, 7], "b": [5]}, {B}, SLICE, 8, {A: 4, B: 1}, "end", id="where b is silent for long"
        ),
        pytest.param({"a": [0, 5], "b": []}, {B}, {}, 6, {A: 2, B: 0}, "end", id="and never had a record"),
        pytest.param({"a": [0, 5, 6], "b": [5]}, (), {}, 6, {A: 2, B: 1}, "partition", id="where b may have more"),
    ],
)
def test_where_a_batch_ends(
    times: Any, idle: Any, limits: dict[str, Any], horizon_ms: int, ends: dict[SourcePartition, int], ended_by: str
) -> None:
    plan = PlannedLog.of(times, idle=frozenset(idle)).plan(**limits)
    assert (plan.horizon_ms, plan.ends, plan.ended_by) == (horizon_ms, ends, ended_by)


class TestSilence:
    def test_a_partition_that_was_read_to_its_end_holds_the_others_back(self) -> None:
        log = PlannedLog.of({"a": [0, 5, 6, 7], "b": [5]})
        plan = log.plan(slice_ms=100)
        assert (plan.horizon_ms, plan.ends, plan.holding) == (6, {A: 2, B: 1}, [B])
        log.take(plan)
        held = log.plan(slice_ms=100)
        assert (held.horizon_ms, held.ends, held.holding) == (None, {A: 2, B: 1}, [B])

    def test_a_partition_that_never_had_a_record_as_well(self) -> None:
        plan = PlannedLog.of({"a": [0, 5], "b": []}).plan()
        assert (plan.horizon_ms, plan.holding) == (None, [B])

    def test_one_that_wakes_up_late_is_read_and_moves_no_horizon_back(self) -> None:
        log = PlannedLog.of({"a": [0, 50, 100, 120], "b": []}, idle=frozenset({A, B}))
        log.take(log.plan(slice_ms=101))
        log.times[B] += [3, 40, 110]
        plan = log.plan(slice_ms=10)
        assert (plan.horizon_ms, plan.ends) == (110, {A: 3, B: 2})


def test_a_burst_waits_for_the_others() -> None:
    log = PlannedLog.of({"a": list(range(0, 600, 10)), "b": [540] * 100})
    while log.positions[B] == 0:
        log.take(log.plan(slice_ms=50, max_offsets=20))
    assert log.positions[A] >= 50, "all of a that is earlier is read first"


def test_a_gap_in_all_partitions_is_passed_in_one_step() -> None:
    log = PlannedLog.of({"a": [0, 1_000_000], "b": [3, 1_000_005]}, idle=frozenset({A, B}))
    log.take(log.plan(slice_ms=10))
    plan = log.plan(slice_ms=10)
    assert (plan.horizon_ms, plan.ends) == (1_000_010, {A: 2, B: 2})


def test_the_bound_on_offsets_shortens_the_slice_for_all() -> None:
    log = PlannedLog.of({"a": range(100), "b": range(100)})
    plan = log.plan(slice_ms=100, max_offsets=40)
    assert plan.ends[A] == plan.ends[B] == plan.horizon_ms
    assert 15 <= plan.ends[A] <= 20


def test_the_end_of_a_burst_is_found_however_dense_it_is() -> None:
    """As a backlog has it: 300 of the next 30 s are of the first tenth of a second, the others even."""
    log = PlannedLog.of({"a": list(range(0, 30_000, 100)), "b": [number // 3 for number in range(300)]})
    plan = log.plan(slice_ms=30_000, max_offsets=160)
    assert 120 <= sum(plan.ends.values()) <= 160
    log.take(plan)
    assert sum(len(offsets) for offsets in log.take(log.plan(slice_ms=30_000, max_offsets=160)).values()) >= 120
    assert log.asked <= 40


@given(log=logs(ANY_ORDER), slice_ms=SLICES, max_offsets=BOUNDS)
def test_every_offset_is_read_once_nothing_passes_the_horizon_and_nothing_below_it_is_left(
    log: PlannedLog, slice_ms: int, max_offsets: int
) -> None:
    read: dict[SourcePartition, list[int]] = {one: [] for one in log.times}
    for _ in range(1 + sum(map(len, log.times.values()))):
        before = {one: front for one, front in log.fronts().items() if front.next_ms is not None}
        plan = log.plan(slice_ms=slice_ms, max_offsets=max_offsets)
        taken = log.take(plan)
        for one, offsets in taken.items():
            read[one] += offsets
        if plan.horizon_ms is None:
            break
        times = {one: [log.times[one][at] for at in offsets] for one, offsets in taken.items()}
        assert all(time < plan.horizon_ms for of in times.values() for time in of if time is not None)
        with_records = sum(len(taken[one]) for one in before)
        assert 0 < with_records <= max_offsets
        below = {one for one, front in before.items() if front.next_ms is not None and front.next_ms < plan.horizon_ms}
        if len(below) <= max_offsets:
            assert {one for one in before if taken[one]} >= below, "each partition with something below it progresses"
    assert read == {one: list(range(len(times))) for one, times in log.times.items()}, "the backlog comes to its end"


@given(log=logs(IN_ORDER), slice_ms=SLICES, max_offsets=BOUNDS)
def test_of_partitions_in_order_nothing_comes_after_a_later_batch(
    log: PlannedLog, slice_ms: int, max_offsets: int
) -> None:
    """What a watermark without any delay would drop."""
    horizon = 0
    while True:
        reached = log.reached()
        plan = log.plan(slice_ms=slice_ms, max_offsets=max_offsets)
        times = [time for one, of in log.take(plan).items() for time in log.times[one][of.start : of.stop]]
        if plan.horizon_ms is None:
            return
        assert all(time >= (reached or 0) for time in times if time is not None)
        assert plan.horizon_ms > (reached or 0), "it is behind all that was read before"
        assert plan.horizon_ms >= horizon
        horizon = plan.horizon_ms


@given(log=logs(ANY_ORDER), slice_ms=SLICES, max_offsets=BOUNDS, stops=st.integers(0, 5))
def test_a_restart_at_any_batch_goes_on_as_if_there_had_been_none(
    log: PlannedLog, slice_ms: int, max_offsets: int, stops: int
) -> None:
    for _ in range(stops):
        log.take(log.plan(slice_ms=slice_ms, max_offsets=max_offsets))
    again = PlannedLog(log.times, dict(log.positions), log.idle)
    assert again.plan(slice_ms=slice_ms, max_offsets=max_offsets) == log.plan(
        slice_ms=slice_ms, max_offsets=max_offsets
    )


@given(log=logs(IN_ORDER), slice_ms=SLICES)
def test_an_active_partition_is_not_passed(log: PlannedLog, slice_ms: int) -> None:
    """Nobody has been silent yet: no batch goes beyond what every partition is known to have."""
    log.idle = frozenset()
    newest = [log.newest_ms(one) for one in log.times]
    while True:
        plan = log.plan(slice_ms=slice_ms, max_offsets=None)
        if plan.horizon_ms is None:
            break
        assert plan.horizon_ms <= min(time for time in newest if time is not None) + 1
        log.take(plan)
    known = [time for time in newest if time is not None]
    if len(known) < len(newest):
        assert log.reached() is None, "of one partition nothing is known at all"
    elif known:
        assert log.reached() == max(
            time for times in log.times.values() for time in times if time is not None and time <= min(known)
        )


def test_few_questions_are_asked() -> None:
    log = PlannedLog.of({"a": range(0, 100_000, 7), "b": range(0, 100_000, 11)})
    log.plan(slice_ms=100_000, max_offsets=500)
    assert log.asked <= 6
