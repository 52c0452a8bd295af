"""Events that come again with the same id, and events that may lapse: which of them are missing rightly."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.source_event import SourceEvent
from tests.unit.devkit.observe.audit.audited import audit, deferred, lapsed, nonzero
from tests.unit.devkit.observe.audit.events import SOURCE, output_of, source_event


def repeat_of(first: SourceEvent, offset: int) -> SourceEvent:
    """The same event again, received later."""
    value = orjson.loads(first.value)
    value["meta"]["dt"] = "2026-06-01T00:00:04Z"
    event_id = value["meta"]["id"]
    expected = first.entry.expected.model_copy(update={"repeat": True, "event_id": event_id})
    entry = first.entry.model_copy(update={"offset": offset, "expected": expected})
    return replace(first, entry=entry, value=orjson.dumps(value))


FIRST = source_event(0)
AGAIN = repeat_of(FIRST, 5)
OTHER = source_event(1, page=2)


@pytest.mark.parametrize(
    ("left", "counted", "problems"),
    [
        ([output_of(FIRST), output_of(OTHER, at=1)], {"outputs": 2, "deduplicated": 1}, {}),
        ([output_of(AGAIN), output_of(OTHER, at=1)], {"outputs": 2, "deduplicated": 1}, {}),
        ([output_of(FIRST), output_of(OTHER, at=1), output_of(AGAIN, at=2)], {"outputs": 3, "repeats_emitted": 1}, {}),
        ([output_of(OTHER)], {"outputs": 1, "lost": 2}, {"lost": 2}),
        ([output_of(FIRST)], {"outputs": 1, "lost": 1, "deduplicated": 1}, {"lost": 1}),
        ([lapsed(FIRST), output_of(OTHER)], {"outputs": 1, "lapsed": 1, "lost": 1}, {"lapsed": 1, "lost": 1}),
    ],
    ids=[
        "the first of an id is enough",
        "the repeat is enough",
        "a program that removes none emits both",
        "where none of an id left all are lost",
        "an event without a repeat is lost as ever",
        "a repeat is not dropped for one that lapsed",
    ],
)
def test_one_of_an_id_is_enough(left: list[Arrival], counted: dict[str, int], problems: dict[str, int]) -> None:
    figures = audit([FIRST, OTHER, AGAIN], *left)
    assert nonzero(figures) == {"inputs": 3, **counted}
    assert figures.problems() == problems


def test_one_that_waits_in_the_deferral_topic_is_enough() -> None:
    figures = audit([FIRST, AGAIN], entries=deferred("page_change/0/0000000000"))
    assert nonzero(figures) == {"inputs": 2, "deferred": 1, "deduplicated": 1}


def test_what_may_lapse_is_no_problem_and_must_not_get_lost() -> None:
    late = [source_event(number, page=number, may_lapse=number < 2) for number in range(4)]
    figures = audit(late, lapsed(late[0]), lapsed(late[2]), output_of(late[3]))
    assert nonzero(figures) == {"inputs": 4, "outputs": 1, "lapsed": 2, "excused_lapses": 1, "lost": 1}
    assert figures.problems() == {"lost": 1, "lapsed": 1}
    assert [example.split(":")[0] for example in figures.examples] == ["lost", "lapsed"]


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["output", "lapsed", "nothing"])), min_size=1, max_size=12),
    st.lists(st.sampled_from(["output", "nothing"]), max_size=12),
    st.integers(0, 24),
)
def test_each_event_ends_in_exactly_one_way(firsts: list[tuple[bool, str]], repeats: list[str], committed: int) -> None:
    events = [source_event(number, page=number, may_lapse=may) for number, (may, _) in enumerate(firsts)]
    pairs = [*zip(events, repeats, strict=False)]
    events += [repeat_of(event, len(firsts) + number) for number, (event, _) in enumerate(pairs)]
    ends = [end for _, end in firsts] + repeats[: len(firsts)]
    leave = {"output": output_of, "lapsed": lapsed}
    left = [leave[end](event, at=at) for at, (event, end) in enumerate(zip(events, ends, strict=True)) if end in leave]
    found = audit(events, *left, committed={(SOURCE, 0): committed})
    ways = (found.outputs, found.errors, found.filtered, found.lapsed, found.deferred, found.pending, found.lost)
    assert sum(ways) + found.deduplicated == found.inputs == len(events)
    assert found.outputs == ends.count("output")
    assert found.lapsed == ends.count("lapsed")
    assert found.excused_lapses == sum(may and end == "lapsed" for may, end in firsts)
    missing = [n for n, end in enumerate(ends) if end == "nothing" and n < committed]
    assert found.lost + found.deduplicated == len(missing)
    sibling = {n: n + len(firsts) for n in range(len(ends) - len(firsts))}
    sibling |= {other: one for one, other in sibling.items()}
    assert found.deduplicated == sum(n in sibling and ends[sibling[n]] == "output" for n in missing)
    both = [one for one, two in sibling.items() if one < two and ends[one] == ends[two] == "output"]
    assert found.repeats_emitted == len(both)
