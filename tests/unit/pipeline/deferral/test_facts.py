"""Facts from a slow round's task, and what the driver makes of them."""

from pyspark import cloudpickle

from pipeline.deferral.entry import Fact, Resolved, Rewritten, entries_after
from pipeline.deferral.lane import Policy, SlowLane
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


def test_the_driver_writes_what_the_task_decided() -> None:
    before = entry(2, attempt=1)
    policy = Policy(inline_allowance_s=1, slow_deadline_s=1, total_attempts=9, backoff_base_s=1, backoff_cap_s=9)
    again = SlowLane(policy).failed(before, now_ms=10, reason="status 504")
    assert again is not None
    fact = Rewritten(again.position, again.attempt, again.not_before_ms, again.reason)
    assert entries_after([before], [fact]) == ([], [again])


def test_facts_travel_to_the_driver_and_back() -> None:
    assert cloudpickle.loads(cloudpickle.dumps(FACTS)) == FACTS
