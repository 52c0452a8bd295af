"""Each record of an event is in one class, whatever comes in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.event_records import Ending, EventRecords
from devkit.observe.audit.order import Landing

STEPS = st.lists(st.tuples(st.sampled_from(["output", "error"]), st.sampled_from("ab")), min_size=1, max_size=8)


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
