"""Entries, their pages, how long one rests, and what a slow round's task reports of them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.deferral.entry import (
    COUNTED_BYTES,
    OVERHEAD_BYTES,
    Entry,
    Fact,
    Page,
    Resolved,
    Rewritten,
    entries_after,
    order,
    rests,
)
from pipeline.deferral.lane import OPEN_FENCE, MainLane, Policy, SlowLane
from pipeline.deferral.pages import BlockedPages, Pages, Positions
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import ENTRIES, POSITIONS, entry, offsets

POLICY = Policy(inline_allowance_s=5, slow_deadline_s=120, total_attempts=3, backoff_base_s=10, backoff_cap_s=35)
STEPS = st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 12), st.binary(max_size=9)), max_size=60)


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


@pytest.mark.parametrize(("attempt", "not_before_ms"), [(0, 11_000), (1, 21_000)])
def test_an_entry_that_failed_rests_longer_each_time(attempt: int, not_before_ms: int) -> None:
    again = SlowLane(POLICY).failed(entry(1, attempt=attempt), now_ms=1000, reason="slow")
    assert again == entry(1, stuck=True, attempt=attempt + 1, not_before_ms=not_before_ms, reason="slow")


@pytest.mark.parametrize(("asked_s", "backoff_ms"), [(5.0, 10_000), (30.5, 30_500), (60.0, 35_000), (1e9, 35_000)])
def test_what_the_upstream_asks_for_is_the_least_but_for_the_cap(asked_s: float, backoff_ms: int) -> None:
    again = SlowLane(POLICY).failed(entry(1), now_ms=0, reason="busy", retry_after_s=asked_s)
    assert again is not None
    assert again.not_before_ms == backoff_ms


@pytest.mark.parametrize(("first", "then"), [("output", "error"), ("error", "output")])
def test_a_page_writes_to_one_of_the_two_topics_in_a_batch_and_in_a_round(first: str, then: str) -> None:
    page, other = entry(0).page, entry(0, "other").page
    for lane in (MainLane(OPEN_FENCE), SlowLane(POLICY)):
        assert [lane.may_emit(page, to) for to in (first, first, then)] == [True, True, False]
        assert lane.may_emit(other, then)


@given(attempt=st.integers(-5, 10**9), base=st.floats(0, 1e6), cap=st.floats(0, 1e9))
def test_backoff_doubles_within_its_cap_and_never_shrinks(attempt: int, base: float, cap: float) -> None:
    policy = Policy(1, 1, 1, backoff_base_s=base, backoff_cap_s=cap)
    assert 0 <= policy.backoff_ms(attempt) <= policy.backoff_ms(attempt + 1) <= round(1000 * cap)
    assert [POLICY.backoff_ms(attempt) for attempt in (1, 2, 3, 4)] == [10_000, 20_000, 35_000, 35_000]


def test_no_page_rests_for_longer_than_an_entry_may() -> None:
    """What seems to was written before the time of day was set back, by this process or by the one before."""
    day_ms = 86_400_000
    written = Pages(longest_rest_ms=600_000)
    written.put(entry(1, not_before_ms=day_ms + 5000))
    assert written.due(day_ms, stuck=False) == [], "it rests for five seconds"
    assert written.due(0, stuck=False) == [entry(1).page]
    folded = Pages(longest_rest_ms=600_000)
    folded.put(entry(1, not_before_ms=day_ms))
    assert folded.due(0, stuck=False) == [entry(1).page]
    folded.put(entry(2, "q", not_before_ms=day_ms))
    assert len(folded.due(1, stuck=False)) == 2


@given(STEPS, st.integers(0, 4), st.sampled_from([15, 10**9]))
def test_what_it_hands_out_is_that_of_a_plain_list(
    steps: list[tuple[str, int, bytes]], spread: int, longest_ms: int
) -> None:
    """Ranks, due times, stuck pages and the frozen copy are kept up to date; here they are worked out each time."""
    pages, model = Pages(longest_ms), dict[int, Entry]()
    for number, (step, offset, value) in enumerate(steps):
        if step == "put":
            changes = {"stuck": len(value) % 2 == 1, "not_before_ms": 10 * len(value), "value": value}
            # Replaced in its place: a plain dictionary keeps the rank of what was there, as pages have to.
            model[offset] = entry(offset, f"p{offset % (spread + 1)}", **changes)
            pages.put(model[offset])
        elif offset in model:
            pages.remove(model.pop(offset).position)
        by_page: dict[Page, list[Entry]] = {}
        for one in model.values():
            by_page.setdefault(one.page, []).append(one)
        assert list(pages) == list(by_page)
        assert (len(pages), pages.bytes) == (len(model), sum(one.size for one in model.values()))
        assert (pages.count, set(pages)) == (len(by_page), set(by_page))
        for page, entries in by_page.items():
            assert list(pages.entries(page)) == sorted(entries, key=lambda one: one.position.offset)
            assert [pages.get(one.position) for one in entries] == entries
        stuck = {page: any(one.kind == "stuck" for one in entries) for page, entries in by_page.items()}
        assert list(pages.unstuck()) == [page for page in by_page if not stuck[page]]
        now_ms = 10 * (number % 7)  # back and forth, as the time of day may go
        for kind in (True, False):
            assert set(pages.due(now_ms, stuck=kind)) == {
                page
                for page, entries in by_page.items()
                if stuck[page] is kind and not rests(max(one.not_before_ms for one in entries), now_ms, longest_ms)
            }
        left_out = [one for one in model.values() if one.position.offset % 3 == number % 3]
        rest = sorted((one for one in model.values() if one not in left_out), key=lambda one: one.position.offset)
        blocked, positions = pages.frozen(without=left_out)
        assert positions == {one.position for one in rest}
        assert blocked == {one.page: one.position for one in reversed(rest)}


def test_a_frozen_copy_stays_as_it_was() -> None:
    pages = Pages()
    pages.put(entry(1))
    pages.put(entry(2))
    blocked, positions = pages.frozen(without=[])
    pages.remove(entry(1).position)
    pages.put(entry(3, "q"))
    assert pages.get(entry(1).position) is None
    assert dict(blocked) == {entry(1).page: entry(1).position}
    assert offsets(sorted(positions, key=lambda position: position.offset)) == [1, 2]


@given(STEPS, st.lists(st.sampled_from(["enwiki", "dewiki", None]), min_size=13, max_size=13))
def test_each_page_counts_for_the_wiki_that_was_asked_first(
    steps: list[tuple[str, int, bytes]], wikis: list[str | None]
) -> None:
    """With what was never asked for and stands on the page; the wiki is forgotten with the page."""
    pages, model, of_page = Pages(), dict[int, Entry](), dict[Page, str | None]()
    for step, offset, value in steps:
        if step == "put":
            one = model[offset] = entry(offset, f"p{offset % 3}", value=value, wiki_id=wikis[offset])
            pages.put(one)
            of_page[one.page] = of_page.get(one.page) or one.wiki_id
        elif offset in model:
            pages.remove(model.pop(offset).position)
        of_page = {page: wiki for page, wiki in of_page.items() if page in {one.page for one in model.values()}}
        for wiki in ("enwiki", "dewiki"):
            own = [one.size for one in model.values() if of_page[one.page] == wiki]
            assert pages.size_of([wiki, "frwiki"]) == (len(own), sum(own))
        assert {page: pages.wiki_of(page) for page in of_page} == of_page
