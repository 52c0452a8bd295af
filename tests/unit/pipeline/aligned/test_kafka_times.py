"""The times that planning asks for are those of the records, however few of them are looked at."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.aligned.horizon import Front, Offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.kafka_times import KafkaTimes
from pipeline.errors import PipelineError
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.records_in_memory import ODD, RecordsInMemory, as_event_times

A, B = SourcePartition("a", 0), SourcePartition("b", 0)
TIMES = st.lists(st.none() | st.integers(1, 100) | st.sampled_from(ODD), max_size=40)


def times_of(log: RecordsInMemory, positions: Offsets, max_scanned: int = 1000) -> KafkaTimes:
    """With the fronts of a plan at these positions."""
    times = KafkaTimes(cast("KafkaLog", log), max_scanned)
    look(times, log, positions)
    return times


def look(times: KafkaTimes, log: RecordsInMemory, positions: Offsets) -> None:
    bounds = log.bounds()
    around = times.around(positions, bounds)
    times.fronts = {one: Front(at, bounds[one][1], around[one].next_ms) for one, at in positions.items()}
    times.firsts = {one: first for one, (first, _) in bounds.items()}


@given(a=TIMES, b=TIMES, share=st.floats(0, 1), at_ms=st.integers(1, 110))
def test_ends_are_those_of_the_records_from_the_position_on(
    a: list[int | None], b: list[int | None], share: float, at_ms: int
) -> None:
    log = RecordsInMemory({A: a, B: b})
    positions = {A: int(share * len(a)), B: 0}
    ends = times_of(log, positions).ends_before(at_ms)
    for one, position in positions.items():
        times = enumerate(as_event_times(log.times[one]))
        waiting = [(at, time) for at, time in times if at >= position and time is not None]
        assert (one in ends) == bool(waiting)
        if waiting:
            later = [at for at, time in waiting if time >= at_ms]
            taken = [time for at, time in waiting if at < ends[one]]
            assert all(time < at_ms for time in taken)
            assert ends[one] <= (later[0] if later else len(log.times[one]))
            assert [at for at, _ in waiting if at >= ends[one]][:1] == later[:1], "none is left that comes before it"


def test_a_record_from_the_future_that_was_read_hides_nothing_of_what_comes_after_it() -> None:
    log = RecordsInMemory({A: [10, 9_999, 20, 30, 40, 50]})
    times = times_of(log, {A: 2})
    first = log.first_at({A: 35})[A]
    assert first is not None
    assert first.offset == 1, "the broker's index is of no use"
    assert times.ends_before(35) == {A: 4}
    handed_over = log.handed_over
    assert times.ends_before(45) == {A: 5}
    assert log.handed_over == handed_over, "the records are looked at once"


def test_no_more_is_looked_at_than_a_batch_may_take() -> None:
    log = RecordsInMemory({A: [9_999, *range(1000)]})
    times = times_of(log, {A: 1}, max_scanned=50)
    assert times.ends_before(5_000) == {A: 51}
    assert log.handed_over < 100


def test_what_is_around_a_position_is_looked_at_once() -> None:
    log = RecordsInMemory({A: [10, 30, 20, None, 40], B: []})
    times = times_of(log, {A: 3, B: 0})
    around = times.around({A: 3, B: 0}, log.bounds())
    assert (around[A].before_ms, around[A].next_ms) == (30, 40)
    assert (around[B].before_ms, around[B].next_ms) == (None, None)
    handed_over = log.handed_over
    times.around({A: 3, B: 0}, log.bounds())
    assert log.handed_over == handed_over
    log.times[B].append(7)
    assert times.around({A: 3, B: 0}, log.bounds())[B].next_ms == 7, "where nothing waited, something does now"


def test_the_newest_of_a_partition_follows_its_end() -> None:
    log = RecordsInMemory({A: [10, 30, 20], B: []})
    times = times_of(log, {A: 0, B: 0})
    assert (times.newest_ms(A), times.newest_ms(B)) == (30, None)
    log.times[A].append(70)
    look(times, log, {A: 0, B: 0})
    assert times.newest_ms(A) == 70


def test_a_topic_with_the_brokers_time_is_refused_by_name() -> None:
    log = RecordsInMemory({A: [10]}, kinds={A: 1})
    with pytest.raises(PipelineError, match=r"^topic a has the broker's time of arrival \(LogAppendTime\)"):
        times_of(log, {A: 0})
