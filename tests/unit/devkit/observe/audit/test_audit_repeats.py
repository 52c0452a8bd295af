"""Events that come again with the same id, and events that lapse: a fate of their own beside outputs and errors."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from pipeline.schemas import LAPSED_URI
from tests.unit.devkit.observe.audit.audited import (
    CANARY,
    EDIT,
    FAILING,
    FIRST_TEN,
    LAPSED,
    audit,
    deferred,
    lapsed,
    nonzero,
)
from tests.unit.devkit.observe.audit.events import SOURCE, arrival, error_of, output_of, source_event

SAID = {"topic": "page_change", "partition": 0, "offset": 0}


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


def test_what_lapsed_is_counted_as_that_and_not_as_lost() -> None:
    figures = audit([EDIT, FAILING, CANARY], error_of(FAILING), lapsed(EDIT))
    assert nonzero(figures) == {"inputs": 3, "errors": 1, "filtered": 1, "lapsed": 1}
    assert figures.problems() == {"lapsed": 1}
    (example,) = figures.examples
    assert example.startswith(f"lapsed: {EDIT.name}, record {LAPSED}/0/0: lapsed; expected an output")


@pytest.mark.parametrize(
    ("replays", "problems"), [(NO_REPLAYS, {"lapsed": 1, "conflicting": 1}), (Replays(1, (FIRST_TEN,)), {"lapsed": 1})]
)
def test_an_output_of_what_lapsed_before_contradicts_it(replays: Replays, problems: dict[str, int]) -> None:
    figures = audit([EDIT], output_of(EDIT, timestamp_ms=5), lapsed(EDIT), replays=replays)
    assert (figures.lapsed, figures.outputs, figures.conflicting, figures.problems()) == (1, 0, 1, problems)


def test_a_lapsed_event_that_was_made_again_is_a_repeat() -> None:
    figures = audit([EDIT], lapsed(EDIT), lapsed(EDIT, at=1))
    assert (figures.lapsed, figures.duplicated, figures.conflicting) == (1, 1, 0)


@pytest.mark.parametrize(
    ("said", "key", "wrong"),
    [
        ({"source": SAID, "event_id": "id-0-0"}, EDIT.key, None),
        ({"source": SAID | {"offset": 7}}, EDIT.key, "it says that page_change/0/7 lapsed"),
        ({"source": SAID, "event_id": "id-0-7"}, EDIT.key, "it says that event id-0-7 lapsed"),
        ({"source": {}}, EDIT.key, "not a lapsed_action event: KeyError('topic')"),
        ({"source": SAID}, b"page 2", "its key is 'page 2'; expected 'page 1'"),
        ({"$schema": LAPSED_URI}, EDIT.key, "not valid by /enrichment/lapsed_action/1.0.0 at (top): "),
    ],
    ids=["its own", "another position", "another id", "no position", "another key", "not by its schema"],
)
def test_what_a_lapsed_event_says_is_of_its_own(said: dict[str, Any], key: bytes, wrong: str | None) -> None:
    """What lapsed is sent again by that."""
    late = replace(arrival(EDIT, said, topic=LAPSED), key=key)
    figures = audit([EDIT, FAILING], error_of(FAILING), late)
    assert figures.mismatched == (wrong is not None)
    assert wrong is None or f"mismatched: {EDIT.name}, record {LAPSED}/0/0: {wrong}" in figures.examples[1]
