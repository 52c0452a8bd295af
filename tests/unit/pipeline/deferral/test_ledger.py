import pickle
from collections.abc import Iterable
from typing import Any

import pytest

from pipeline.deferral.entry import Entry
from pipeline.deferral.ledger import Ledger, ProtocolError, Round, Snapshot
from pipeline.deferral.snapshot import Reservation
from pipeline.records.record import Position, SourcePartition
from tests.unit.pipeline.deferral.making import entry, offsets

FAR = 10**15
SIZE = entry(1).size
PARTITION = SourcePartition("source", 0)
FROM_5, FROM_0 = {PARTITION: 5}, {PARTITION: 0}
DOWN = frozenset({"dewiki"})


def ledger(*entries: Entry, **changes: Any) -> Ledger:
    return Ledger(entries, **{"max_entries": 100, "max_bytes": 10**6} | changes)


def stuck(offset: int, page: str = "p", **changes: Any) -> Entry:
    return entry(offset, page, stuck=True, **changes)


def plan(of: Ledger, **limits: Any) -> Snapshot:
    return of.plan(**{"limit_entries": 100, "limit_bytes": 10**6, "now_ms": 0} | limits)


def settle(of: Ledger, snapshot: Snapshot, written: Iterable[Entry] = ()) -> list[Position]:
    resolved = of.batch_done(snapshot, written)
    of.forget(resolved)
    return resolved


def take(of: Ledger, **limits: Any) -> Round | None:
    return of.take(**{"now_ms": 0, "max_pages": 100, "max_entries": 100, "idle": False} | limits)


def taken(of: Ledger, **limits: Any) -> Round:
    found = take(of, **limits)
    assert found is not None
    return found


def taken_offsets(of: Ledger, **limits: Any) -> list[int]:
    found = take(of, **limits)
    return offsets(found.entries) if found else []


def finish(of: Ledger, round_: Round, *resolved: int, rewritten: Iterable[Entry] = ()) -> None:
    gone = [entry(offset).position for offset in resolved]
    of.forget(of.round_done(round_, resolved=gone, rewritten=list(rewritten)))
    of.release(round_)


# --- planning a batch


@pytest.mark.parametrize(
    ("entries", "limits", "reserved", "blocked"),
    [
        ([entry(4), entry(2), entry(3)], {}, [2, 3, 4], []),
        ([entry(1), stuck(2), entry(3)], {}, [], [1]),
        ([entry(number) for number in range(5)], {"limit_entries": 2}, [0, 1], [2]),
        ([entry(number) for number in range(5)], {"limit_bytes": 3 * SIZE}, [0, 1, 2], [3]),
        ([entry(number) for number in range(5)], {"limit_bytes": 3 * SIZE - 1}, [0, 1], [2]),
        ([entry(1), entry(2)], {"limit_entries": 0, "limit_bytes": 0}, [1], [2]),
        ([entry(9, "a"), entry(1, "b"), entry(2, "b")], {"limit_entries": 1}, [9], [1]),
        ([entry(1), entry(2, not_before_ms=50), entry(3)], {"now_ms": 49}, [1], [2]),
        (
            [entry(1, "a", wiki_id="dewiki"), entry(2, "a"), entry(3, "b", wiki_id="enwiki"), entry(4, "c")],
            {"unhealthy": DOWN},
            [3, 4],
            [1],
        ),
    ],
    ids=[
        "a page that only waits is reserved whole and blocks nothing",
        "a page with a stuck entry is not reserved wherever that stands",
        "the limit leaves a prefix of the page and blocks behind it",
        "the limit in bytes counts the entries as the ledger does",
        "and no part of one",
        "an entry over the limit is reserved when it is the first, or it would stay for ever",
        "limits serve first what was deferred first",
        "reservations end before an entry that has to wait",
        "nothing of an unhealthy wiki is reserved",
    ],
)
def test_what_is_reserved_and_what_is_blocked(
    entries: list[Entry], limits: dict[str, Any], reserved: list[int], blocked: list[int]
) -> None:
    snapshot = plan(ledger(*entries), **limits)
    assert offsets(snapshot.reserved) == reserved
    assert dict(snapshot.blocked) == {one.page: one.position for one in entries if one.position.offset in blocked}
    assert sorted(offsets(snapshot.unreserved)) == sorted(set(offsets(entries)) - set(reserved))
    assert snapshot.unhealthy == limits.get("unhealthy", frozenset())


def test_a_page_that_the_slow_lane_holds_is_not_reserved() -> None:
    of = ledger(entry(1), entry(2, "q"))
    taken(of, idle=True)
    snapshot = plan(of)
    assert snapshot.reserved == ()
    assert set(snapshot.blocked) == {entry(1).page, entry(2, "q").page}


def test_what_was_deferred_first_keeps_its_rank_when_it_is_written_again() -> None:
    of = ledger(entry(9, "first"), entry(1, "second"), entry(2, "second"))
    settle(of, plan(of, limit_entries=1), [entry(9, "first"), entry(3, "third")])
    assert offsets(plan(of, limit_entries=2).reserved) == [9, 1]


def test_the_fence_can_be_sent_says_what_a_task_has_to_know_and_holds_no_values() -> None:
    known = entry(1, attempt=2, dropped=True, reason="given up", value=b"secret" * 1000)
    fence = plan(ledger(known, stuck(2, "q", value=b"secret" * 1000))).fence
    assert fence.reserved == {known.position: Reservation(2, dropped=True, reason="given up")}
    sent = pickle.dumps(fence)
    assert pickle.loads(sent) == fence
    assert b"secret" not in sent


def test_a_snapshot_does_not_change_with_the_ledger() -> None:
    of = ledger(stuck(1))
    snapshot = plan(of)
    finish(of, taken(of), 1)
    assert snapshot.blocked == {entry(1).page: entry(1).position}
    assert of.entries == 0


# --- a batch is done


def test_what_was_reserved_and_not_written_again_is_to_be_tombstoned_and_then_forgotten() -> None:
    of = ledger(entry(1), entry(2), entry(3))
    assert offsets(of.batch_done(plan(of), [stuck(2, attempt=1), entry(3)])) == [1]
    assert of.get(entry(1).position) is not None, "until its tombstone is acked"
    of.forget([entry(1).position])
    assert of.listing() == [stuck(2, attempt=1), entry(3)]


def test_what_the_batch_deferred_is_in_the_ledger_before_the_next_is_planned() -> None:
    of = ledger()
    assert settle(of, plan(of), [stuck(4)]) == []
    assert plan(of).blocked == {entry(4).page: entry(4).position}


def test_records_of_entries_that_were_not_the_batchs_are_passed_over() -> None:
    """The slow lane wrote the entry again, and resolved it, since the topic was read last."""
    of = ledger(stuck(1))
    snapshot = plan(of)
    finish(of, taken(of), 1)
    settle(of, snapshot, [stuck(1, attempt=1)])
    assert of.entries == 0


def test_reserved_pages_are_off_limits_until_their_tombstones_are_acked() -> None:
    of = ledger(entry(1), entry(2))
    snapshot = plan(of)
    assert take(of, idle=True) is None
    resolved = of.batch_done(snapshot, [stuck(2)])
    assert take(of) is None
    of.forget(resolved)
    assert taken_offsets(of) == [2]


def test_a_slow_round_that_forgets_does_not_end_the_batch() -> None:
    of = ledger(entry(1), stuck(2, "q"))
    snapshot = plan(of)
    finish(of, taken(of), 2)
    assert take(of, idle=True) is None, "the page of the reserved entry"
    assert offsets(settle(of, snapshot)) == [1]


def test_one_batch_is_planned_and_done_at_a_time() -> None:
    of, of_another_life = ledger(entry(1)), plan(ledger(entry(1)))
    snapshot = plan(of)
    with pytest.raises(ProtocolError, match="planned while another is under way"):
        plan(of)
    with pytest.raises(ProtocolError, match="not under way"):
        of.batch_done(of_another_life, [])
    of.batch_done(snapshot, [])
    with pytest.raises(ProtocolError, match="not under way"):
        of.batch_done(snapshot, [])


def test_only_what_was_resolved_can_be_forgotten() -> None:
    with pytest.raises(ProtocolError, match="source/0/1 is forgotten, but was never resolved"):
        ledger(stuck(1)).forget([entry(1).position])


# --- the gate and the bound


def test_until_a_batch_is_replayed_the_slow_lane_gets_nothing_behind_its_beginning() -> None:
    """An earlier event of the page may not have left."""
    of = ledger(entry(1), stuck(2, "q"), replay=FROM_0)
    assert take(of, idle=True) is None
    snapshot = plan(of)
    assert take(of, idle=True) is None
    resolved = of.batch_done(snapshot, [])
    assert take(of, idle=True) is None, "until the tombstones are acked"
    of.forget(resolved)
    assert taken_offsets(of) == [2]


def test_before_a_batch_is_replayed_the_slow_lane_gets_what_comes_before_it() -> None:
    """All of that is committed, so nothing earlier is missing."""
    of = ledger(entry(3), stuck(4), stuck(5), stuck(6, "q"), replay=FROM_5)
    round_ = taken(of)
    assert offsets(round_.entries) == [3, 4]
    snapshot = plan(of)
    assert snapshot.blocked == {entry(3).page: entry(3).position, entry(6, "q").page: entry(6).position}
    finish(of, round_, 3, 4)
    assert take(of, idle=True) is None
    settle(of, snapshot)
    assert taken_offsets(of) == [5, 6]


@pytest.mark.parametrize("replay", [{}, {SourcePartition("source", 1): 9, SourcePartition("other", 0): 9}])
def test_a_partition_that_the_job_had_not_read_begins_with_the_replayed_batch(
    replay: dict[SourcePartition, int],
) -> None:
    of = ledger(stuck(1), max_entries=0, replay=replay)
    assert take(of, idle=True) is None
    assert not of.must_wait


def test_a_replayed_batch_without_reservations_opens_the_gate_at_once() -> None:
    of = ledger(stuck(1), replay=FROM_0)
    assert take(of, idle=True) is None
    assert of.batch_done(plan(of), []) == []
    assert taken_offsets(of) == [1]


@pytest.mark.parametrize(
    ("bound", "over"),
    [
        ({"max_entries": 3}, False),
        ({"max_entries": 2}, True),
        ({"max_bytes": 3 * SIZE}, False),
        ({"max_bytes": 3 * SIZE - 1}, True),
    ],
)
def test_the_bound_is_what_may_be_there(bound: dict[str, int], over: bool) -> None:
    of = ledger(entry(1), entry(2), entry(3, "q"), **bound)
    assert (of.entries, of.pages, of.bytes) == (3, 2, 3 * SIZE)
    assert (of.over_bound, of.must_wait) == (over, over)


def test_a_replayed_batch_waits_for_what_can_leave_before_it() -> None:
    """Or each restart would add a batch to a ledger that is over its bound."""
    of = ledger(stuck(4), stuck(5), entry(6, "q"), max_entries=1, replay=FROM_5)
    assert of.must_wait
    round_ = taken(of)
    assert offsets(round_.entries) == [4]
    assert of.must_wait, "until it has left"
    finish(of, round_, 4)
    assert of.over_bound
    assert not of.must_wait, "the rest is behind the gate, which only the batch can open"


def test_a_replayed_batch_does_not_wait_for_the_bound_alone() -> None:
    of = ledger(stuck(1), entry(2), max_entries=1, replay=FROM_0)
    assert of.over_bound
    assert not of.must_wait
    settle(of, plan(of))
    assert of.must_wait


@pytest.mark.parametrize(("share", "over"), [(0.0, True), (0.02, True), (0.03, False), (1.0, False)])
def test_unhealthy_wikis_share_a_part_of_the_bounds(share: float, over: bool) -> None:
    """Three events of a hundred, with the one behind on their page."""
    of = ledger(entry(1, "a", wiki_id="dewiki"), entry(2, "a"), entry(3, "b", wiki_id="frwiki"), entry(4, "c"))
    down = DOWN | {"frwiki"}
    assert of.exceeds(share, down) == over
    assert of.deferred_of(down) == (3, 3 * SIZE)
    assert not of.exceeds(0.0, frozenset())


def test_the_bound_in_bytes_is_shared_too() -> None:
    of = ledger(entry(1, wiki_id="dewiki"), max_bytes=4 * SIZE - 1)
    assert of.exceeds(0.25, DOWN)
    assert not of.exceeds(0.26, DOWN)


# --- the slow lane

WAITS_AND_STICKS = [entry(1, "waits"), stuck(2, "sticks")]
RESTS = [stuck(1), stuck(2, not_before_ms=100)]
TWO_REST = [stuck(1, not_before_ms=30), stuck(2, not_before_ms=80), stuck(3, "q", not_before_ms=50)]


@pytest.mark.parametrize(
    ("entries", "limits", "first", "then"),
    [
        ([entry(3), stuck(2), entry(1)], {}, [1, 2, 3], []),
        (WAITS_AND_STICKS, {}, [2], []),
        (WAITS_AND_STICKS, {"idle": True}, [2, 1], []),
        (RESTS, {"now_ms": 99}, [], []),
        (RESTS, {"now_ms": 100}, [1, 2], []),
        (TWO_REST, {"now_ms": 49}, [], []),
        (TWO_REST, {"now_ms": 79}, [3], []),
        (TWO_REST, {"now_ms": 80}, [1, 2, 3], []),
        ([], {}, [], []),
        ([entry(1, not_before_ms=7)], {"now_ms": 1000}, [], []),
        ([*map(entry, range(3)), stuck(4), stuck(5, "q")], {"max_entries": 2}, [0, 1], [5]),
        ([stuck(9 - number, f"p{number}") for number in range(4)], {"max_pages": 3}, [9, 8, 7], [6]),
        (
            [
                stuck(1, "a", wiki_id="dewiki"),
                stuck(2, "b", wiki_id="enwiki"),
                stuck(3, "b", wiki_id="dewiki"),
                stuck(4, "b", wiki_id="enwiki"),
            ],
            {"idle": True, "unhealthy": DOWN},
            [2],
            [],
        ),
        ([stuck(1, wiki_id="dewiki", dropped=True), entry(2, wiki_id="dewiki")], {"unhealthy": DOWN}, [1], []),
    ],
    ids=[
        "a page is taken whole, in order and once, when any of it is stuck",
        "a page that only waits is for the main lane",
        "unless that is idle, and after the others",
        "a page rests while any of its entries has to",
        "and no longer",
        "nothing is due",
        "the page that is due sooner",
        "in the order in which they were deferred",
        "nothing",
        "nothing of it is stuck",
        "no more entries than it may, of a page the first",
        "so many pages, first those that were deferred first",
        "what stands before an unhealthy wiki, as events without a key share a page",
        "what was dropped needs no wiki",
    ],
)
def test_what_two_rounds_take(entries: list[Entry], limits: dict[str, Any], first: list[int], then: list[int]) -> None:
    of = ledger(*entries)
    assert [taken_offsets(of, **limits), taken_offsets(of, **limits)] == [first, then]


def test_the_rest_of_a_page_is_taken_when_its_holder_is_done() -> None:
    """What it has resolved is written down only at its end, and a crash repeats it."""
    of = ledger(*map(entry, range(3)), stuck(4))
    finish(of, taken(of, max_entries=2), 0, 1)
    assert taken_offsets(of) == [2, 4]


def test_a_running_batch_is_not_idle_whatever_the_caller_says() -> None:
    of = ledger(entry(1, "reserved"), entry(2, "waits"), stuck(3, "sticks"))
    snapshot = plan(of, limit_entries=1)
    assert taken_offsets(of, idle=True) == [3]
    settle(of, snapshot)
    assert taken_offsets(of, idle=True) == [2]


def test_a_round_forgets_what_it_resolved_keeps_what_it_wrote_again_and_lets_the_rest_stand() -> None:
    of = ledger(stuck(1), entry(2), entry(3))
    round_ = taken(of)
    again = stuck(2, attempt=1, not_before_ms=500)
    resolved = of.round_done(round_, resolved=[entry(1).position], rewritten=[again])
    assert offsets(resolved) == [1]
    assert offsets(of.listing()) == [1, 2, 3], "until the tombstone is acked"
    with pytest.raises(ProtocolError, match="released before source/0/1 is forgotten"):
        of.release(round_)
    of.forget(resolved)
    of.release(round_)
    assert of.listing() == [again, entry(3)]
    assert take(of, now_ms=499) is None
    assert taken_offsets(of, now_ms=500) == [2, 3]


def test_a_released_page_can_be_reserved_again() -> None:
    of = ledger(entry(1))
    round_ = taken(of, idle=True)
    of.release(round_)
    assert offsets(plan(of).reserved) == [1]
    with pytest.raises(ProtocolError, match="slow round 1 does not hold its pages"):
        of.release(round_)


@pytest.mark.parametrize(
    ("resolved", "rewritten"), [([9], []), ([], [entry(9)]), ([1], [stuck(1)])], ids=["resolved", "rewritten", "both"]
)
def test_a_round_speaks_of_its_own_entries_and_of_each_in_one_way(resolved: list[int], rewritten: list[Entry]) -> None:
    of = ledger(stuck(1), entry(9, "q"))
    with pytest.raises(ProtocolError, match=r"slow round 1 took no such entry.*: source/0/[19]$"):
        finish(of, taken(of), *resolved, rewritten=rewritten)
    assert of.get(entry(1).position) == stuck(1)


def test_no_lane_waits_for_a_clock_that_was_set_back() -> None:
    """No rest is that long."""
    day_ms = 86_400_000
    of = ledger(entry(1, not_before_ms=day_ms), stuck(2, "q", not_before_ms=day_ms), longest_rest_ms=1000)
    assert offsets(plan(of).reserved) == [1]
    assert taken_offsets(of) == [2]


# --- operators, tries and void records


@pytest.mark.parametrize(
    ("actions", "change"),
    [(["retry"], {}), (["drop"], {"dropped": True}), (["drop", "retry"], {"dropped": True})],
    ids=["retry makes it due", "drop gives it up", "a retry does not take that back"],
)
def test_commands_leave_an_entry_in_its_turn(actions: list[Any], change: dict[str, Any]) -> None:
    of = ledger(stuck(1, not_before_ms=FAR), stuck(2, attempt=3, not_before_ms=FAR))
    changed = [of.command(entry(2).position, action) for action in actions]
    assert changed[-1] == of.get(entry(2).position) == stuck(2, attempt=3, **change)
    assert take(of) is None, "the first still rests"
    assert of.command(entry(3).position, "drop") is None
    assert of.entries == 2


def test_no_command_while_a_lane_has_the_page() -> None:
    of = ledger(entry(1), stuck(2, "q"))
    plan(of)
    taken(of)
    for position in (entry(1).position, entry(2).position):
        assert of.busy(position)
        with pytest.raises(ProtocolError, match=f"a lane is at work on the page of {position}"):
            of.command(position, "retry")
    assert not of.busy(entry(3).position)


def test_tries_are_given_back_to_what_stands_and_is_free() -> None:
    of = ledger(*(stuck(number, str(number), attempt=number) for number in range(4)))
    taken(of, max_pages=1, max_entries=1)
    of.command(entry(2).position, "retry")
    changed = of.give_back_tries([entry(number).position for number in (0, 1, 2, 9)])
    assert [(one.position.offset, one.attempt) for one in changed] == [(1, 0), (2, 1)]
    assert [one.attempt for one in of.listing()] == [0, 0, 1, 3]


def test_void_records_are_mended_with_what_the_ledger_knows() -> None:
    of = ledger(stuck(1))
    of.committed({PARTITION: 3})
    voids = [entry(1).position, entry(2).position]
    assert of.repairs(voids) == [(voids[0], stuck(1)), (voids[1], None)]
    assert of.repairs() == []


def test_a_void_record_of_an_event_that_is_not_committed_waits_for_that() -> None:
    """Its event may still be deferred: then the entry is written, and never a tombstone that may come behind it."""
    of = ledger()
    assert of.repairs([entry(1).position, entry(2).position]) == []
    of.committed({PARTITION: 2, SourcePartition("another", 0): 9})
    assert of.repairs() == [(entry(1).position, None)]
    settle(of, plan(of), [entry(2)])
    of.committed({PARTITION: 3})
    assert of.repairs() == [(entry(2).position, entry(2))]


def test_void_records_of_a_busy_page_are_mended_when_the_lane_is_done() -> None:
    of = ledger(stuck(1))
    of.committed({PARTITION: 2})
    round_ = taken(of)
    assert of.repairs([entry(1).position]) == []
    finish(of, round_, 1)
    assert of.repairs() == [(entry(1).position, None)]
