"""What was emitted, and commits against event time, with positions of the shapes that two ways of reading make."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.emitted import Emissions, Emitted
from devkit.observe.kafka.error_events import ErrorEvents, ErrorTally
from devkit.observe.kafka.event_time_skew import EventTimeSkew

DUE = {("source", 0, offset) for offset in range(3)}
DENSE, BURST = ("dense", 0), ("burst", 0)
MINUTE_MS = 60_000


@dataclass
class Topic:
    """What has left; counts how often it is read."""

    sources: list[Position | None] = field(default_factory=list)
    reads: int = 0

    def read(self) -> Iterator[Arrival]:
        self.reads += 1
        for offset, source in enumerate(self.sources):
            yield Arrival("out", 0, offset, b"", {}, source, 0)

    def leave(self, *offsets: int | None) -> int:
        self.sources += [None if offset is None else ("source", 0, offset) for offset in offsets]
        return len(self.sources)


def test_all_that_is_due_has_left_and_a_repeat_is_no_other_event() -> None:
    topic = Topic()
    emissions = Emissions(topic.read)
    left = emissions.look(topic.leave(0, 0, 1), DUE)
    assert (left.count, left.is_all) == (2, False)
    left = emissions.look(topic.leave(2), DUE)
    assert (left, left.is_all) == (Emitted(3, 3, names_sources=True), True)


def test_nothing_is_read_before_all_may_have_left_nor_twice() -> None:
    topic = Topic()
    emissions = Emissions(topic.read)
    emissions.look(topic.leave(0, 1), DUE)
    assert topic.reads == 0
    emissions.look(topic.leave(1), DUE)
    emissions.look(3, DUE)
    assert topic.reads == 1
    assert emissions.look(3, DUE, exact=True).count == 2
    assert topic.reads == 1


def test_at_the_end_it_is_told_exactly() -> None:
    topic = Topic()
    assert Emissions(topic.read).look(topic.leave(0), DUE, exact=True) == Emitted(1, 3, names_sources=True)
    assert Emissions(Topic().read).look(0, DUE, exact=True) == Emitted(0, 3, names_sources=True)


def test_without_sources_records_are_counted() -> None:
    topic = Topic()
    left = Emissions(topic.read).look(topic.leave(None, None, None, None), DUE)
    assert (left, left.is_all) == (Emitted(3, 3, names_sources=False), True)


def test_an_offset_without_a_record_is_none() -> None:
    """A transaction's marker takes one."""
    topic = Topic()
    topic.leave(None, None)
    left = Emissions(topic.read).look(3, DUE)
    assert (left, left.is_all) == (Emitted(2, 3, names_sources=False), False)


def record(offset: int, value: bytes, source: Position | None) -> Arrival:
    return Arrival("t.error", 0, offset, value, {}, source, 0)


def test_an_event_counts_once_and_the_largest_record_of_each_type_is_known() -> None:
    tally = ErrorTally()
    tally.add(record(0, b'{"error_type": "a"}', ("t", 0, 1)))
    tally.add(record(1, b'{"error_type": "a", "message": "again"}', ("t", 0, 1)))
    tally.add(record(2, b'{"error_type": "b"}', ("t", 0, 2)))
    tally.add(record(3, b'{"error_type": "b"}', None))
    tally.add(record(6, b'{"exception_type": "b"}', ("t", 0, 4)))
    tally.add(record(4, b"not JSON", ("t", 0, 3)))
    tally.add(record(5, b'["error_type"]', ("t", 0, 3)))
    assert tally.kinds() == (ErrorEvents("b", 3, 23), ErrorEvents("", 1, 14), ErrorEvents("a", 1, 39))


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
