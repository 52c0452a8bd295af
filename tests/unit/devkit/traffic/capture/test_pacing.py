from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.capture.capture_file import CapturedRecord
from devkit.traffic.capture.pacing import in_time, scaled

TIMES = st.lists(st.integers(0, 10**13), min_size=1, max_size=50)


def record(partition: int, offset: int, timestamp_ms: int) -> CapturedRecord:
    return CapturedRecord(
        topic="t", partition=partition, offset=offset, timestamp_ms=timestamp_ms, key=None, bytes=2, event={}
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**13)), min_size=1, max_size=50))
def test_records_are_in_time_and_each_partition_in_its_order(came: list[tuple[int, int]]) -> None:
    records = [record(partition, offset, at) for offset, (partition, at) in enumerate(came)]
    found = in_time(records)
    assert sorted(one.offset for _, one in found) == list(range(len(came)))
    moments = [at for at, _ in found]
    assert moments == sorted(moments)
    assert moments[0] == timedelta(0)
    for partition in range(4):
        offsets = [one.offset for _, one in found if one.partition == partition]
        assert offsets == sorted(offsets)


@given(TIMES, st.timedeltas(timedelta(milliseconds=1), timedelta(days=10)), st.booleans())
def test_scaling_keeps_the_order_and_fills_the_time(times: list[int], length: timedelta, even: bool) -> None:
    arrivals = [timedelta(milliseconds=at - min(times)) for at in sorted(times)]
    found = scaled(arrivals, length, even=even)
    assert len(found) == len(arrivals)
    assert found == sorted(found)
    assert found[0] == timedelta(0)
    assert found[-1] <= length
    if not even and arrivals[-1]:
        assert found[-1] == length


def test_intervals_keep_their_ratio() -> None:
    arrivals = [timedelta(seconds=at) for at in (0, 1, 1, 4, 10)]
    seconds = [at.total_seconds() for at in scaled(arrivals, timedelta(seconds=5), even=False)]
    assert seconds == [0, 0.5, 0.5, 2, 5]
    evenly = scaled(arrivals, timedelta(seconds=5), even=True)
    assert [at.total_seconds() for at in evenly] == [0, 1, 2, 3, 4]


def test_a_clock_that_went_back_turns_no_order_round() -> None:
    found = in_time([record(0, 0, 5000), record(0, 1, 3000), record(1, 2, 4000), record(0, 3, 6000)])
    assert [(at.total_seconds(), one.offset) for at, one in found] == [(0, 2), (1, 0), (1, 1), (2, 3)]
