"""Each record of an event is in one class, and order is held against its definition on random landings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.event_records import Ending, EventRecords
from devkit.observe.audit.order import Landing, earlier, late_events, precedes

STEPS = st.lists(st.tuples(st.sampled_from(["output", "error"]), st.sampled_from("ab")), min_size=1, max_size=8)


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


def records_of(*steps: tuple[Ending, str]) -> EventRecords:
    """Records of these topics and contents, each a second after the one before."""
    records = EventRecords()
    for at, (ending, content) in enumerate(steps):
        records.add(ending, Landing(ending, 0, at, at * 1000), content)
    return records


@pytest.mark.parametrize("first", ["output a", "error a"])
@pytest.mark.parametrize("second", ["output a", "output b", "error a", "error b"])
def test_what_the_second_record_is(first: str, second: str) -> None:
    def step(text: str) -> tuple[Ending, str]:
        topic, content = text.split()
        return ("output" if topic == "output" else "error"), content

    records = records_of(step(first), step(second))
    same_topic = step(first)[0] == step(second)[0]
    assert records.ended == step(first)[0]
    assert records.repeats == (first == second)
    assert records.differing.total() == (same_topic and first != second)
    assert (records.contradiction is not None) == (not same_topic)


def test_before_the_first_record() -> None:
    records = EventRecords()
    assert (records.first, records.ended, records.contradiction) == (None, None, None)


def test_records_of_one_moment_ended_as_output() -> None:
    records = EventRecords()
    records.add("error", Landing("error", 0, 0, 7), "a")
    records.add("output", Landing("output", 0, 0, 7), "a")
    assert records.ended == "output"
    assert records.contradiction == Landing("error", 0, 0, 7)


@given(STEPS, st.integers(0, 8))
def test_each_record_is_in_one_class_and_no_more_is_excused_than_may_be(
    steps: list[tuple[Ending, str]], most: int
) -> None:
    records = records_of(*steps)
    assert records.ended == steps[0][0]
    assert records.first == Landing(steps[0][0], 0, 0, 0)
    contradicted = records.contradiction is not None
    assert 1 + records.repeats + records.differing.total() + contradicted == len(steps)
    assert contradicted == (len({ending for ending, _ in steps}) == 2)
    assert records.excused_repeats(most) + records.excuses_contradiction(most) == min(
        most, records.repeats + contradicted
    )


@given(STEPS, st.integers(0, 8))
def test_a_timeout_accounts_for_no_excused_conflict_and_no_second_output(
    steps: list[tuple[Ending, str]], most: int
) -> None:
    records = records_of(*steps)
    assert records.timed_out_conflicts(most) == 0
    records.timed_out = True
    open_conflict = records.contradiction is not None and not records.excuses_contradiction(most)
    assert records.timed_out_conflicts(most) == open_conflict + records.differing["error"]
