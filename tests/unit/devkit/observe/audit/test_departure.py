"""Each record of an event is in one class, whatever comes in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.departure import Departure, Ending
from devkit.observe.audit.order import Landing

STEPS = st.lists(st.tuples(st.sampled_from(["output", "error"]), st.sampled_from("ab")), min_size=1, max_size=8)


def departure(*steps: tuple[Ending, str]) -> Departure:
    """Records of these topics and contents, each a second after the one before."""
    made = Departure()
    for at, (ending, content) in enumerate(steps):
        made.take(ending, Landing(ending, 0, at, at * 1000), content)
    return made


@pytest.mark.parametrize("first", ["output a", "error a"])
@pytest.mark.parametrize("second", ["output a", "output b", "error a", "error b"])
def test_what_the_second_record_is(first: str, second: str) -> None:
    def step(text: str) -> tuple[Ending, str]:
        topic, content = text.split()
        return ("output" if topic == "output" else "error"), content

    made = departure(step(first), step(second))
    same_topic = step(first)[0] == step(second)[0]
    assert made.ended == step(first)[0]
    assert made.repeats == (first == second)
    assert made.differing.total() == (same_topic and first != second)
    assert (made.contradiction is not None) == (not same_topic)


def test_before_the_first_record() -> None:
    made = Departure()
    assert (made.first, made.ended, made.contradiction) == (None, None, None)


def test_records_of_one_moment_ended_as_output() -> None:
    made = Departure()
    made.take("error", Landing("error", 0, 0, 7), "a")
    made.take("output", Landing("output", 0, 0, 7), "a")
    assert made.ended == "output"
    assert made.contradiction == Landing("error", 0, 0, 7)


@given(STEPS, st.integers(0, 8))
def test_each_record_is_in_one_class_and_no_more_is_excused_than_may_be(
    steps: list[tuple[Ending, str]], most: int
) -> None:
    made = departure(*steps)
    assert made.ended == steps[0][0]
    assert made.first == Landing(steps[0][0], 0, 0, 0)
    contradicted = made.contradiction is not None
    assert 1 + made.repeats + made.differing.total() + contradicted == len(steps)
    assert contradicted == (len({ending for ending, _ in steps}) == 2)
    assert made.excused_repeats(most) + made.excuses_contradiction(most) == min(most, made.repeats + contradicted)


@given(STEPS, st.integers(0, 8))
def test_a_timeout_accounts_for_no_excused_conflict_and_no_second_output(
    steps: list[tuple[Ending, str]], most: int
) -> None:
    made = departure(*steps)
    assert made.timed_out_conflicts(most) == 0
    made.timed_out = True
    open_conflict = made.contradiction is not None and not made.excuses_contradiction(most)
    assert made.timed_out_conflicts(most) == open_conflict + made.differing["error"]
