"""Entries, what a slow round's task reports of them, and what of them is sent to tasks."""

import pickle

from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.deferral.entry import (
    COUNTED_BYTES,
    OVERHEAD_BYTES,
    Entry,
    Fact,
    Resolved,
    Rewritten,
    entries_after,
    order,
)
from pipeline.deferral.lane import Policy, SlowLane
from pipeline.deferral.pages import BlockedPages, Positions
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import ENTRIES, POSITIONS, entry


def test_a_page_is_a_key_within_a_partition_of_a_topic() -> None:
    assert entry(3, "p").page == ("source", 0, b"p")
    assert entry(3, key=None).page == ("source", 0, None)


@given(ENTRIES)
def test_an_entry_counts_with_all_that_it_holds(made: Entry) -> None:
    headers = sum(len(name) + len(value) for name, value in made.headers)
    counted = COUNTED_BYTES * len(made.counted or ())
    assert made.size == len(made.key or b"") + len(made.value or b"") + headers + counted + OVERHEAD_BYTES


@given(st.lists(POSITIONS))
def test_positions_sort_by_topic_then_partition_then_offset(positions: list[Position]) -> None:
    by_hand = sorted(positions, key=lambda position: position.offset)
    by_hand.sort(key=lambda position: position.partition)
    by_hand.sort(key=lambda position: position.topic)
    assert sorted(positions, key=order) == by_hand


GONE = Resolved(Position("source", 0, 1))
AGAIN = Rewritten(Position("source", 0, 2), 3, 99, "status 504")
FACTS: list[Fact] = [GONE, AGAIN]


def test_what_no_fact_names_stands_as_it_was() -> None:
    entries, facts = [entry(1, stuck=True), entry(2), entry(3)], cloudpickle.loads(cloudpickle.dumps(FACTS))
    assert entries_after(entries, facts) == (
        [GONE.position],
        [entry(2, stuck=True, attempt=3, not_before_ms=99, reason="status 504")],
    )


def test_the_driver_writes_what_the_task_decided() -> None:
    before = entry(2, attempt=1)
    policy = Policy(inline_allowance_s=1, slow_deadline_s=1, total_attempts=9, backoff_base_s=1, backoff_cap_s=9)
    again = SlowLane(policy).failed(before, now_ms=10, reason="status 504")
    assert again is not None
    fact = Rewritten(again.position, again.attempt, again.not_before_ms, again.reason)
    assert entries_after([before], [fact]) == ([], [again])


SOURCES = st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 3))
OFFSETS = st.dictionaries(SOURCES, st.sets(st.integers(0, 9)))
LOWEST = st.dictionaries(SOURCES, st.dictionaries(st.none() | st.binary(max_size=2), st.integers(0, 9)))


@given(OFFSETS)
def test_it_is_the_set_of_its_positions_before_and_after_the_way(offsets: dict[tuple[str, int], set[int]]) -> None:
    plain = {Position(*source, offset) for source, known in offsets.items() for offset in known}
    for positions in (Positions(offsets), pickle.loads(pickle.dumps(Positions(offsets)))):
        assert positions == plain
        assert len(positions) == len(plain)
        assert all(
            (at in positions) == (at in plain) for at in (Position("a", p, o) for p in range(5) for o in range(10))
        )
    assert "a" not in Positions(offsets)


@given(LOWEST)
def test_it_is_the_mapping_of_its_pages_before_and_after_the_way(
    lowest: dict[tuple[str, int], dict[bytes | None, int]],
) -> None:
    plain = {
        (*source, key): Position(*source, offset) for source, pages in lowest.items() for key, offset in pages.items()
    }
    for blocked in (BlockedPages(lowest), pickle.loads(pickle.dumps(BlockedPages(lowest)))):
        assert dict(blocked) == plain
        assert len(blocked) == len(plain)
        assert blocked.get(("c", 0, b"k")) is None
        assert blocked.get(("a", 0, b"no such key")) is None
