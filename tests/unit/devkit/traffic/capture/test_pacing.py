from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.capture.pacing import Arrivals

TIMES = st.lists(st.integers(0, 10**13), min_size=1, max_size=50)


def arrived(*came: tuple[int, int]) -> Arrivals:
    """Partition and timestamp of each; its line is its number."""
    found = Arrivals()
    for number, (partition, at_ms) in enumerate(came):
        found.add(("t", partition), at_ms, number)
    found.sort()
    return found


def unscaled(found: Arrivals) -> list[timedelta]:
    return list(found.scaled(found.length, even=False))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**13)), min_size=1, max_size=50))
def test_records_are_in_time_and_each_partition_in_its_order(came: list[tuple[int, int]]) -> None:
    found = arrived(*came)
    assert sorted(found.lines) == list(range(len(came)))
    moments = unscaled(found)
    assert moments == sorted(moments)
    assert moments[0] == timedelta(0)
    for partition in range(4):
        lines = [line for line in found.lines if came[line][0] == partition]
        assert lines == sorted(lines)


@given(TIMES, st.timedeltas(timedelta(milliseconds=1), timedelta(days=10)), st.booleans())
def test_scaling_keeps_the_order_and_fills_the_time(times: list[int], length: timedelta, even: bool) -> None:
    arrivals = arrived(*((0, at) for at in sorted(times)))
    found = list(arrivals.scaled(length, even=even))
    assert len(found) == len(times)
    assert found == sorted(found)
    assert found[0] == timedelta(0)
    assert found[-1] <= length
    if not even and arrivals.length:
        assert found[-1] == length


def test_intervals_keep_their_ratio() -> None:
    arrivals = arrived(*((0, at * 1000) for at in (0, 1, 1, 4, 10)))
    seconds = [at.total_seconds() for at in arrivals.scaled(timedelta(seconds=5), even=False)]
    assert seconds == [0, 0.5, 0.5, 2, 5]
    evenly = arrivals.scaled(timedelta(seconds=5), even=True)
    assert [at.total_seconds() for at in evenly] == [0, 1, 2, 3, 4]


def test_a_clock_that_went_back_turns_no_order_round() -> None:
    found = arrived((0, 5000), (0, 3000), (1, 4000), (0, 6000))
    assert list(found.lines) == [2, 0, 1, 3]
    assert [at.total_seconds() for at in unscaled(found)] == [0, 1, 1, 2]


def test_of_no_record() -> None:
    assert (len(arrived()), arrived().length, list(arrived().lines)) == (0, timedelta(0), [])
