"""Commits against event time: recorded positions of the shapes that the two ways of reading a backlog make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Position
from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.event_time_skew import EventTimeSkew

DENSE, BURST = ("dense", 0), ("burst", 0)
MINUTE_MS = 60_000


def skew(*landed: tuple[Position, int | None]) -> EventTimeSkew:
    return EventTimeSkew(lambda first: landed[first:])


def two_streams() -> EventTimeSkew:
    """An event each second of ten minutes, and 60 of minute nine."""
    dense = [((*DENSE, second), second * 1000) for second in range(600)]
    burst = [((*BURST, number), 9 * MINUTE_MS + number) for number in range(60)]
    return skew(*dense, *burst)


@pytest.mark.parametrize(
    ("committed", "seconds"),
    [
        ({}, None),
        ({DENSE: 50, BURST: 5}, 540.004 - 50),  # in proportion to what lies in each
        ({DENSE: 545}, 4.0),  # the last of these is 4 s newer than the first of the burst
        ({DENSE: 540}, 0.0),
        ({DENSE: 600, BURST: 60}, None),
        ({DENSE: 600}, 59.0),
    ],
)
def test_of_recorded_commits(committed: Offsets, seconds: float | None) -> None:
    assert two_streams().seconds(committed) == pytest.approx(seconds)


def test_how_far_each_stream_is() -> None:
    assert two_streams().reached({DENSE: 50}) == {"dense": 49.0}, "of the other one nothing is committed"
    assert two_streams().reached({DENSE: 50, BURST: 5}) == {"dense": 49.0, "burst": 540.004}
    one = skew((("t", 0, 0), 5_000), (("t", 0, 1), 4_000), (("t", 1, 0), 9_000))
    assert one.reached({("t", 0): 2, ("t", 1): 1}) == {"t/0": 5.0, "t/1": 9.0}, "the partitions of a single one"
    two = skew((("t", 0, 0), 5_000), (("t", 1, 0), 9_000), (("u", 0, 0), 1_000))
    assert two.reached({("t", 0): 1, ("t", 1): 1, ("u", 0): 1}) == {"t": 9.0, "u": 1.0}
    assert skew((("a", 0, 0), None)).reached({("a", 0): 1}) == {}


def test_of_records_without_times_there_is_none() -> None:
    assert skew((("a", 0, 0), None), (("a", 0, 1), None)).seconds({("a", 0): 1}) is None


def test_what_is_published_meanwhile_counts_from_then_on() -> None:
    landed: list[tuple[Position, int | None]] = [(("a", 0, 0), 5_000)]
    found = EventTimeSkew(lambda first: tuple(landed[first:]))
    assert found.seconds({("a", 0): 1}) is None
    landed.append((("b", 0, 0), 2_000))
    assert found.seconds({("a", 0): 1}) == 3.0


def test_a_late_event_of_the_same_partition_counts() -> None:
    assert skew((("a", 0, 0), 9_000), (("a", 0, 1), 2_000)).seconds({("a", 0): 1}) == 7.0


def test_a_checkpoint_that_was_lost_is_looked_at_from_its_new_beginning() -> None:
    found = two_streams()
    found.seconds({DENSE: 600, BURST: 5})
    assert found.seconds({DENSE: 10}) == 0.0


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100)), max_size=30), st.lists(st.integers(0, 12), min_size=3)
)
def test_it_is_the_difference_of_the_two_moments(events: list[tuple[int, int]], ends: list[int]) -> None:
    landed: list[tuple[Position, int | None]] = []
    for partition, time in events:
        landed.append((("t", partition, sum(one[0][1] == partition for one in landed)), time * 1000))
    committed = {("t", partition): ends[partition] for partition in range(3)}
    done = [time for (_, partition, offset), time in landed if time is not None and offset < ends[partition]]
    left = [time for (_, partition, offset), time in landed if time is not None and offset >= ends[partition]]
    wanted = max(0, max(done) - min(left)) / 1000 if done and left else None
    assert skew(*landed).seconds(committed) == wanted
