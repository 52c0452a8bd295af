"""Facts from a slow round's task, and what the driver makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.deferral.facts import Fact, FactsParam, Resolved, Rewritten, entries_after
from pipeline.deferral.lane import Policy, SlowLane
from pipeline.deferral.wire import TOO_LARGE, EntryItem, bounded_record, parse
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import entry

GONE = Resolved(Position("source", 0, 1))
AGAIN = Rewritten(Position("source", 0, 2), 3, 99, "status 504")
FACTS: list[Fact] = [GONE, AGAIN]


def test_what_no_fact_names_stands_as_it_was() -> None:
    resolved, rewritten = entries_after([entry(1, stuck=True), entry(2), entry(3)], FACTS)
    assert resolved == [GONE.position]
    assert rewritten == [entry(2, stuck=True, attempt=3, not_before_ms=99, reason="status 504")]


def test_without_facts_everything_stands() -> None:
    assert entries_after([entry(1)], []) == ([], [])


@pytest.mark.parametrize("limit_bytes", [10_000, 500])
def test_the_driver_knows_an_entry_as_the_topic_has_it(limit_bytes: int) -> None:
    """The task writes a record and reports a fact; driver and topic must not drift apart."""
    before = entry(2, value=bytes(1000), attempt=1)
    policy = Policy(inline_allowance_s=1, slow_deadline_s=1, total_attempts=9, backoff_base_s=1, backoff_cap_s=9)
    again = SlowLane(policy).failed(before, now_ms=10, reason="status 504")
    assert again is not None
    record = bounded_record(again, topic="t", epoch=1, limit_bytes=limit_bytes)
    item = parse(record.key, record.value, record.headers, partition=0, offset=0)
    assert isinstance(item, EntryItem)
    slim = limit_bytes < 1000
    fact = Rewritten(again.position, again.attempt, again.not_before_ms, again.reason, given_up=slim)
    assert entries_after([before], [fact]) == ([], [item.entry])
    assert item.entry.dropped == slim
    assert (item.entry.reason == TOO_LARGE) == slim


@given(st.lists(st.lists(st.sampled_from(FACTS), max_size=3), max_size=4))
def test_parts_add_up_in_any_grouping(parts: list[list[Fact]]) -> None:
    """Spark adds a task's facts one by one, and then what each task brings."""
    param = FactsParam()
    one_by_one: list[Fact] = param.zero([])
    for part in parts:
        for fact in part:
            one_by_one = param.addInPlace(one_by_one, [fact])
    by_part = param.zero([GONE])
    for part in parts:
        by_part = param.addInPlace(by_part, part)
    assert one_by_one == by_part == [fact for part in parts for fact in part]


def test_a_task_begins_with_nothing_and_shares_nothing() -> None:
    param = FactsParam()
    before: list[Fact] = [GONE]
    mine, other = param.zero(before), param.zero(before)
    param.addInPlace(mine, [AGAIN])
    assert (mine, other, before) == ([AGAIN], [], [GONE])


def test_facts_travel_to_the_driver_and_back() -> None:
    assert cloudpickle.loads(cloudpickle.dumps(FACTS)) == FACTS
