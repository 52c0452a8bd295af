from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.kafka.error_events import ErrorEvents, ErrorTally


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
