"""What the ledger hands out, and counts, of wikis whose breaker is open."""

import pytest

from tests.unit.pipeline.deferral.making import entry, offsets
from tests.unit.pipeline.deferral.test_ledger import ledger

DOWN = frozenset({"dewiki"})


def test_nothing_of_an_unhealthy_wiki_is_reserved_and_the_fence_keeps_it() -> None:
    of = ledger(entry(1, "a", wiki_id="dewiki"), entry(2, "a"), entry(3, "b", wiki_id="enwiki"), entry(4, "c"))
    snapshot = of.plan(limit_entries=100, limit_bytes=10**6, now_ms=0, unhealthy=DOWN)
    assert offsets(snapshot.reserved) == [3, 4]
    assert snapshot.unhealthy == DOWN
    assert snapshot.blocked == {entry(1, "a").page: entry(1).position}


def test_a_round_takes_of_a_page_what_stands_before_an_unhealthy_wiki() -> None:
    """Events without a key share a page, whatever their wiki."""
    of = ledger(
        entry(1, "a", wiki_id="dewiki", stuck=True),
        entry(2, "b", wiki_id="enwiki", stuck=True),
        entry(3, "b", wiki_id="dewiki", stuck=True),
        entry(4, "b", wiki_id="enwiki", stuck=True),
    )
    found = of.take(now_ms=0, max_pages=10, max_entries=10, idle=True, unhealthy=DOWN)
    assert found is not None
    assert offsets(found.entries) == [2]
    assert of.take(now_ms=0, max_pages=10, max_entries=10, idle=True, unhealthy=DOWN) is None


def test_what_was_dropped_needs_no_wiki() -> None:
    of = ledger(entry(1, wiki_id="dewiki", dropped=True, stuck=True), entry(2, wiki_id="dewiki"))
    found = of.take(now_ms=0, max_pages=10, max_entries=10, idle=False, unhealthy=DOWN)
    assert found is not None
    assert offsets(found.entries) == [1]


@pytest.mark.parametrize(("share", "over"), [(0.0, True), (0.02, True), (0.03, False), (1.0, False)])
def test_unhealthy_wikis_share_a_part_of_the_bounds(share: float, over: bool) -> None:
    """Three events of a hundred, with the one behind on their page."""
    of = ledger(entry(1, "a", wiki_id="dewiki"), entry(2, "a"), entry(3, "b", wiki_id="frwiki"), entry(4, "c"))
    down = DOWN | {"frwiki"}
    assert of.exceeds(share, down) == over
    assert of.deferred_of(down) == (3, 3 * entry(1).size)
    assert not of.exceeds(0.0, frozenset())


def test_the_bound_in_bytes_is_shared_too() -> None:
    of = ledger(entry(1, wiki_id="dewiki"), max_bytes=4 * entry(1).size - 1)
    assert of.exceeds(0.25, DOWN)
    assert not of.exceeds(0.26, DOWN)


def test_tries_are_given_back_to_what_stands_and_is_free() -> None:
    of = ledger(*(entry(number, str(number), stuck=True, attempt=number) for number in range(4)))
    found = of.take(now_ms=0, max_pages=1, max_entries=1, idle=False)
    assert found is not None
    of.command(entry(2).position, "retry")
    gone = entry(9).position
    changed = of.give_back_tries([entry(number).position for number in (0, 1, 2)] + [gone])
    assert [(one.position.offset, one.attempt) for one in changed] == [(1, 0), (2, 1)]
    assert [one.attempt for one in of.listing()] == [0, 0, 1, 3]
