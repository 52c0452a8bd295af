"""Times that planning asks for are those of the records, however few are looked at and whatever Kafka's index says."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.aligned import latest_times
from pipeline.aligned.horizon import Front, Offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.kafka_times import KafkaTimes
from pipeline.aligned.latest_times import LatestTimes
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


ANY_MS = st.lists(st.none() | st.integers(0, 60) | st.sampled_from(ODD), max_size=60)
MARKERS = st.dictionaries(st.integers(0, 59), st.integers(0, 90), max_size=8)


class Job:
    """A process of a job: it looks as the planner does."""

    def __init__(self, log: RecordsInMemory, begun: Offsets | None = None, reached_ms: int | None = None) -> None:
        self.log, begun = log, begun or {}
        self.times = KafkaTimes(cast("KafkaLog", log), 1000, begun)
        self.latest = LatestTimes(cast("KafkaLog", log), begun, reached_ms)

    def below(self, positions: Offsets) -> int | None:
        bounds = self.log.bounds()
        around = self.times.around(positions, bounds)
        return self.latest.below(positions, bounds, {one: found.before_ms for one, found in around.items()})


def with_markers(times: list[int | None], markers: dict[int, int]) -> tuple[list[int | None], dict[int, int]]:
    """The markers take the places of records."""
    of = {at: ms for at, ms in markers.items() if at < len(times)}
    return [None if at in of else time for at, time in enumerate(times)], of


@given(a=ANY_MS, b=ANY_MS, markers=MARKERS, begun=st.integers(0, 60), shares=st.lists(st.floats(0, 1), max_size=6))
def test_it_is_that_of_all_records_from_where_the_job_began(
    a: list[int | None], b: list[int | None], markers: dict[int, int], begun: int, shares: list[float]
) -> None:
    """In one process after the other as in one that goes on; and in one whose topics have lost what was read."""
    a, of_a = with_markers(a, markers)
    log = RecordsInMemory({A: a, B: b}, markers={A: of_a})
    began = {A: min(begun, len(a))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latest_times, "_AT_ONCE", 4)
        job = Job(log, began)
        for share in sorted(shares):
            positions = {A: began[A] + int(share * (len(a) - began[A])), B: int(share * len(b))}
            read = as_event_times(a[began[A] : positions[A]] + b[: positions[B]])
            latest = max((time for time in read if time), default=None)
            assert (job.below(positions) or None) == latest
            assert (Job(log, began).below(positions) or None) == latest, "planned again, by another process"
            deleted = RecordsInMemory(log.times, firsts=positions, markers=log.markers)
            assert Job(deleted, began, reached_ms=latest).below(positions) == latest, "the checkpoint knows it"


def test_where_times_grow_it_is_one_question_a_batch_and_no_record_more() -> None:
    """Neighbours may be in any order: the last records say the latest time."""
    log = RecordsInMemory({A: [10 * at + (at * 7) % 50 for at in range(2000)], B: list(range(2000))})
    job = Job(log)
    job.below({A: 100, B: 100})
    log.asked = log.handed_over = 0
    for at in range(200, 2001, 100):
        job.below({A: at, B: at})
        job.below({A: at, B: at})
    assert log.asked == 19
    assert log.handed_over <= 19 * 2 * 22, "what is around the position, as without this"


def test_ends_of_transactions_are_no_events() -> None:
    """Theirs is the broker's time; the index of a topic of old events names them first."""
    times: list[int | None] = [at if at % 5 else None for at in range(1, 101)]
    log = RecordsInMemory({A: times}, markers={A: {at: 10_000 + at for at, time in enumerate(times) if time is None}})
    assert Job(log).below({A: 100}) == 99
    log.times[A][3] = 300
    assert Job(log).below({A: 100}) == 300


def test_the_first_look_reads_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest_times, "_AT_ONCE", 10)
    monkeypatch.setattr(latest_times, "_FIRST_LOOK", 50)
    log = RecordsInMemory({A: [None, *range(1, 1000)]}, markers={A: {0: 10**9}})
    assert Job(log).below({A: 1000}) == 999
    assert log.handed_over < 80
    job = Job(log)
    job.below({A: 100})
    log.times[A][600] = 5_000
    assert job.below({A: 1000}) == 5_000, "what was read since is looked at to its end"


def test_a_job_that_is_set_back_looks_again() -> None:
    log = RecordsInMemory({A: [10, 40, 30, 20]})
    job = Job(log)
    assert [job.below({A: at}) for at in (4, 1, 2)] == [40, 10, 40]
    known = Job(log, reached_ms=35)
    assert [known.below({A: at}) for at in (1, 4, 1)] == [35, 40, 35], "but its watermark is not"


def test_a_partition_that_is_added_is_looked_at_from_its_beginning() -> None:
    log = RecordsInMemory({A: [10, 20], B: []})
    job = Job(log)
    assert job.below({A: 2}) == 20
    log.times[B] += [90, *range(30)]
    assert job.below({A: 2, B: 31}) == 90
