"""Events that come again with the same id, and events that may lapse: which of them are missing rightly."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.kafka.deferrals import DeferredEntries
from tests.unit.devkit.observe.audit.audited import ALL, no_store, nonzero
from tests.unit.devkit.observe.audit.events import SOURCE, TRUTH, arrival, output_of, source_event

LAPSED = "lapsed"


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


def lapsed(event: SourceEvent) -> Arrival:
    return arrival(event, {"lapsed": True}, topic=LAPSED)


def audit(events: list[SourceEvent], *arrivals: Arrival, deferred: str | None = None) -> Audit:
    held = DeliveryAudit(events, truth=TRUTH, resolve=no_store)
    for one in arrivals:
        (held.add_lapsed if one.topic == LAPSED else held.add_output)(one)
    entries = DeferredEntries()
    if deferred is not None:
        entries.take(deferred.encode(), b"{}")
    return held.finish(ALL, entries)


@pytest.mark.parametrize("kept", [FIRST, AGAIN], ids=["the first", "the repeat"])
def test_one_of_an_id_is_enough(kept: SourceEvent) -> None:
    figures = audit([FIRST, OTHER, AGAIN], output_of(kept), output_of(OTHER, at=1))
    assert nonzero(figures) == {"inputs": 3, "outputs": 2, "deduplicated": 1}
    assert figures.problems() == {}


def test_a_program_that_removes_none_emits_both() -> None:
    figures = audit([FIRST, AGAIN], output_of(FIRST), output_of(AGAIN, at=1))
    assert nonzero(figures) == {"inputs": 2, "outputs": 2, "repeats_emitted": 1}
    assert figures.problems() == {}


def test_where_none_of_an_id_left_all_are_lost() -> None:
    assert nonzero(audit([FIRST, AGAIN])) == {"inputs": 2, "lost": 2}


def test_one_that_waits_in_the_deferral_topic_is_enough() -> None:
    figures = audit([FIRST, AGAIN], deferred="page_change/0/0000000000")
    assert nonzero(figures) == {"inputs": 2, "deferred": 1, "deduplicated": 1}


def test_an_event_without_a_repeat_is_lost_as_ever() -> None:
    assert nonzero(audit([FIRST, OTHER, AGAIN], output_of(FIRST))) == {
        "inputs": 3,
        "outputs": 1,
        "lost": 1,
        "deduplicated": 1,
    }


def test_a_repeat_is_not_dropped_for_one_that_lapsed() -> None:
    figures = audit([FIRST, AGAIN], lapsed(FIRST))
    assert nonzero(figures) == {"inputs": 2, "lapsed": 1, "lost": 1}


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
    held = DeliveryAudit(events, truth=TRUTH, resolve=no_store)
    for at, (event, end) in enumerate(zip(events, ends, strict=True)):
        if end == "output":
            held.add_output(output_of(event, at=at))
        elif end == "lapsed":
            held.add_lapsed(lapsed(event))
    found = held.finish({(SOURCE, 0): committed})
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
