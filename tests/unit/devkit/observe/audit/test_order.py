"""Order over landings made by hand, held against its definition on random ones."""

from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.order import Landing, earlier, late_events, precedes


def at(offset: int, *, ms: int = 0, topic: str = "output", partition: int = 0) -> Landing:
    return Landing(topic, partition, offset, ms)


def source(offset: int) -> Position:
    return "page_change", 0, offset


def test_one_partition_goes_by_offset_whatever_the_clock_says() -> None:
    assert precedes(at(1, ms=9000), at(2, ms=1000))
    assert not precedes(at(2, ms=1000), at(1, ms=9000))
    assert not precedes(at(1), at(1))


def test_two_places_go_by_time_when_it_is_plain() -> None:
    for other in ({"topic": "error"}, {"partition": 1}):
        assert precedes(at(5, ms=1000), at(1, ms=2001, **other))
        assert not precedes(at(5, ms=1000), at(1, ms=2000, **other))
        assert not precedes(at(1, ms=2001, **other), at(5, ms=1000))


def test_the_earlier_landing_is_the_one_appended_first() -> None:
    output, error = at(1, ms=5), at(1, ms=4, topic="error")
    assert earlier(output, error) == earlier(error, output) == error
    assert (earlier(output, None), earlier(None, error), earlier(None, None)) == (output, error, None)
    same = at(1, ms=5, topic="error")
    assert earlier(output, same) == output


def test_says_who_was_late_and_behind_whom() -> None:
    (late,) = late_events({source(0): at(3), source(1): at(2), source(2): at(4)})
    assert (late.position, late.landing, late.overtaken_by) == (source(0), at(3), source(1))


landings = st.builds(
    Landing,
    topic=st.sampled_from(["output", "error"]),
    partition=st.integers(0, 1),
    offset=st.integers(0, 20),
    timestamp_ms=st.integers(0, 5000),
)


@given(st.dictionaries(st.integers(0, 30).map(source), landings, max_size=12))
def test_an_event_is_late_when_a_later_one_certainly_left_before_it(first: dict[Position, Landing]) -> None:
    expected = [
        position
        for position, landing in sorted(first.items())
        if any(other > position and precedes(leader, landing) for other, leader in first.items())
    ]
    found = list(late_events(first))
    assert [late.position for late in found] == expected
    for late in found:
        assert late.overtaken_by > late.position
        assert precedes(first[late.overtaken_by], late.landing)
