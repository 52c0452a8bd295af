from collections.abc import Iterator
from dataclasses import dataclass, field

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.kafka.emitted import Emissions, Emitted
from devkit.observe.kafka.error_events import ErrorEvents, ErrorTally

DUE = {("source", 0, offset) for offset in range(3)}


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
