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


def ledger(*entries: Entry, **changes: Any) -> Ledger:
    return Ledger(entries, **{"max_entries": 100, "max_bytes": 10**6} | changes)


def plan(of: Ledger, *, entries: int = 100, size: int = 10**6, now_ms: int = 0) -> Snapshot:
    return of.plan(limit_entries=entries, limit_bytes=size, now_ms=now_ms)


def settle(of: Ledger, snapshot: Snapshot, written: Iterable[Entry] = ()) -> list[Position]:
    resolved = of.batch_done(snapshot, written)
    of.forget(resolved)
    return resolved


def take(of: Ledger, *, now_ms: int = 0, pages: int = 100, entries: int = 100, idle: bool = False) -> Round | None:
    return of.take(now_ms=now_ms, max_pages=pages, max_entries=entries, idle=idle)


def taken(of: Ledger, *, now_ms: int = 0, idle: bool = False) -> Round:
    found = take(of, now_ms=now_ms, idle=idle)
    assert found is not None
    return found


# --- planning a batch


def test_a_page_that_only_waits_is_reserved_whole_and_blocks_nothing() -> None:
    snapshot = plan(ledger(entry(4), entry(2), entry(3)))
    assert offsets(snapshot.reserved) == [2, 3, 4]
    assert (snapshot.blocked, snapshot.unreserved) == ({}, frozenset())


def test_a_page_with_a_stuck_entry_is_not_reserved_wherever_that_stands() -> None:
    snapshot = plan(ledger(entry(1), entry(2, stuck=True), entry(3)))
    assert snapshot.reserved == ()
    assert snapshot.blocked == {entry(1).page: entry(1).position}
    assert offsets(sorted(snapshot.unreserved, key=lambda p: p.offset)) == [1, 2, 3]


def test_a_page_that_the_slow_lane_holds_is_not_reserved() -> None:
    of = ledger(entry(1), entry(2, "q"))
    taken(of, idle=True)
    snapshot = plan(of)
    assert snapshot.reserved == ()
    assert set(snapshot.blocked) == {entry(1).page, entry(2, "q").page}


def test_the_limit_leaves_a_prefix_of_the_page_and_blocks_behind_it() -> None:
    snapshot = plan(ledger(*(entry(number) for number in range(5))), entries=2)
    assert offsets(snapshot.reserved) == [0, 1]
    assert offsets(snapshot.blocked.values()) == [2]


def test_the_limit_in_bytes_counts_the_entries_as_the_ledger_does() -> None:
    entries = [entry(number, value=bytes(100)) for number in range(5)]
    assert len(plan(ledger(*entries), size=3 * entries[0].size).reserved) == 3
    assert len(plan(ledger(*entries), size=3 * entries[0].size - 1).reserved) == 2


def test_an_entry_over_the_limit_is_reserved_when_it_is_the_first() -> None:
    """Or it would stay for ever, and its page with it."""
    assert offsets(plan(ledger(entry(1), entry(2)), entries=0, size=0).reserved) == [1]


def test_limits_serve_first_what_was_deferred_first() -> None:
    of = ledger(entry(9, "first"), entry(1, "second"), entry(2, "second"))
    snapshot = plan(of, entries=1)
    assert offsets(snapshot.reserved) == [9]
    settle(of, snapshot, [entry(9, "first"), entry(3, "third")])
    assert offsets(plan(of, entries=2).reserved) == [9, 1]


def test_reservations_end_before_an_entry_that_has_to_wait() -> None:
    of = ledger(entry(1), entry(2, not_before_ms=50), entry(3))
    assert offsets(plan(of, now_ms=49).reserved) == [1]


def test_reservations_carry_what_a_task_has_to_know() -> None:
    snapshot = plan(ledger(entry(1, attempt=2, dropped=True, reason="given up")))
    assert snapshot.fence.reserved == {entry(1).position: Reservation(2, dropped=True, reason="given up")}


def test_the_fence_can_be_sent_and_holds_no_values() -> None:
    snapshot = plan(ledger(entry(1, value=b"secret" * 1000), entry(2, "q", stuck=True, value=b"secret" * 1000)))
    sent = pickle.dumps(snapshot.fence)
    assert pickle.loads(sent) == snapshot.fence
    assert b"secret" not in sent


def test_a_snapshot_does_not_change_with_the_ledger() -> None:
    of = ledger(entry(1, stuck=True))
    snapshot = plan(of)
    round_ = taken(of)
    of.forget(of.round_done(round_, resolved=[entry(1).position], rewritten=[]))
    of.release(round_)
    assert snapshot.blocked == {entry(1).page: entry(1).position}
    assert of.entries == 0


def test_only_one_batch_is_planned_at_a_time() -> None:
    of = ledger(entry(1))
    plan(of)
    with pytest.raises(ProtocolError, match="planned while another is under way"):
        plan(of)


# --- a batch is done


def test_what_was_reserved_and_not_written_again_is_to_be_tombstoned_and_then_forgotten() -> None:
    of = ledger(entry(1), entry(2), entry(3))
    snapshot = plan(of)
    assert offsets(of.batch_done(snapshot, [entry(2, stuck=True, attempt=1), entry(3)])) == [1]
    assert of.get(entry(1).position) is not None, "until its tombstone is acked"
    of.forget([entry(1).position])
    assert offsets(of.listing()) == [2, 3]
    assert of.get(entry(2).position) == entry(2, stuck=True, attempt=1)


def test_what_the_batch_deferred_is_in_the_ledger_before_the_next_is_planned() -> None:
    of = ledger()
    assert settle(of, plan(of), [entry(4, stuck=True)]) == []
    assert plan(of).blocked == {entry(4).page: entry(4).position}


def test_records_of_entries_that_were_not_the_batchs_are_passed_over() -> None:
    """The slow lane wrote the entry again, and resolved it, since the topic was read last."""
    of = ledger(entry(1, stuck=True))
    snapshot = plan(of)
    round_ = taken(of)
    of.forget(of.round_done(round_, resolved=[entry(1).position], rewritten=[]))
    of.release(round_)
    settle(of, snapshot, [entry(1, stuck=True, attempt=1)])
    assert of.entries == 0


def test_reserved_pages_are_off_limits_until_their_tombstones_are_acked() -> None:
    of = ledger(entry(1), entry(2))
    snapshot = plan(of)
    assert take(of, idle=True) is None
    resolved = of.batch_done(snapshot, [entry(2, stuck=True)])
    assert take(of) is None
    of.forget(resolved)
    assert offsets(taken(of).entries) == [2]


def test_a_slow_round_that_forgets_does_not_end_the_batch() -> None:
    of = ledger(entry(1), entry(2, "q", stuck=True))
    snapshot = plan(of)
    round_ = taken(of)
    of.forget(of.round_done(round_, resolved=[entry(2).position], rewritten=[]))
    of.release(round_)
    assert take(of, idle=True) is None, "the page of the reserved entry"
    assert offsets(settle(of, snapshot)) == [1]


def test_a_batch_is_done_once() -> None:
    of = ledger(entry(1))
    snapshot = plan(of)
    of.batch_done(snapshot, [])
    with pytest.raises(ProtocolError, match="not under way"):
        of.batch_done(snapshot, [])


def test_a_batch_of_another_life_is_not_done() -> None:
    other = plan(ledger(entry(1)))
    of = ledger(entry(1))
    plan(of)
    with pytest.raises(ProtocolError, match="not under way"):
        of.batch_done(other, [])


def test_only_what_was_resolved_can_be_forgotten() -> None:
    of = ledger(entry(1, stuck=True))
    with pytest.raises(ProtocolError, match="source/0/1 is forgotten, but was never resolved"):
        of.forget([entry(1).position])


# --- the gate and the bound


FROM_5, FROM_0 = {SourcePartition("source", 0): 5}, {SourcePartition("source", 0): 0}


def test_until_a_batch_is_replayed_the_slow_lane_gets_nothing_behind_its_beginning() -> None:
    """An earlier event of the page may not have left."""
    of = ledger(entry(1), entry(2, "q", stuck=True), replay=FROM_0)
    assert take(of, idle=True) is None
    snapshot = plan(of)
    assert take(of, idle=True) is None
    resolved = of.batch_done(snapshot, [])
    assert take(of, idle=True) is None, "until the tombstones are acked"
    of.forget(resolved)
    assert offsets(taken(of).entries) == [2]


def test_before_a_batch_is_replayed_the_slow_lane_gets_what_comes_before_it() -> None:
    """All of that is committed, so nothing earlier is missing."""
    of = ledger(entry(3), entry(4, stuck=True), entry(5, stuck=True), entry(6, "q", stuck=True), replay=FROM_5)
    round_ = taken(of)
    assert offsets(round_.entries) == [3, 4]
    snapshot = plan(of)
    assert snapshot.blocked == {entry(3).page: entry(3).position, entry(6, "q").page: entry(6).position}
    of.forget(of.round_done(round_, resolved=[entry(3).position, entry(4).position], rewritten=[]))
    of.release(round_)
    assert take(of, idle=True) is None
    settle(of, snapshot)
    assert offsets(taken(of).entries) == [5, 6]


@pytest.mark.parametrize("replay", [{}, {SourcePartition("source", 1): 9, SourcePartition("other", 0): 9}])
def test_a_partition_that_the_job_had_not_read_begins_with_the_replayed_batch(
    replay: dict[SourcePartition, int],
) -> None:
    of = ledger(entry(1, stuck=True), max_entries=0, replay=replay)
    assert take(of, idle=True) is None
    assert not of.must_wait


def test_a_replayed_batch_without_reservations_opens_the_gate_at_once() -> None:
    of = ledger(entry(1, stuck=True), replay=FROM_0)
    assert take(of, idle=True) is None
    assert of.batch_done(plan(of), []) == []
    assert offsets(taken(of).entries) == [1]


@pytest.mark.parametrize(("count", "over"), [(3, False), (4, True)])
def test_the_bound_in_entries_is_what_may_be_there(count: int, over: bool) -> None:
    of = ledger(*(entry(number) for number in range(count)), max_entries=3)
    assert (of.over_bound, of.must_wait) == (over, over)


@pytest.mark.parametrize(("spare", "over"), [(0, False), (-1, True)])
def test_the_bound_in_bytes_is_what_may_be_there(spare: int, over: bool) -> None:
    entries = [entry(number, value=bytes(50)) for number in range(3)]
    assert ledger(*entries, max_bytes=3 * entries[0].size + spare).over_bound is over


def test_a_replayed_batch_waits_for_what_can_leave_before_it() -> None:
    """Or each restart would add a batch to a ledger that is over its bound."""
    of = ledger(entry(4, stuck=True), entry(5, stuck=True), entry(6, "q"), max_entries=1, replay=FROM_5)
    assert of.must_wait
    round_ = taken(of)
    assert offsets(round_.entries) == [4]
    assert of.must_wait, "until it has left"
    of.forget(of.round_done(round_, resolved=[entry(4).position], rewritten=[]))
    of.release(round_)
    assert of.over_bound
    assert not of.must_wait, "the rest is behind the gate, which only the batch can open"


def test_a_replayed_batch_does_not_wait_for_the_bound_alone() -> None:
    of = ledger(entry(1, stuck=True), entry(2), max_entries=1, replay=FROM_0)
    assert of.over_bound
    assert not of.must_wait
    settle(of, plan(of))
    assert of.must_wait


# --- the slow lane


def test_a_round_takes_no_more_entries_than_it_may_and_of_a_page_the_first() -> None:
    """What it has resolved is written down only at its end, and a crash repeats it."""
    of = ledger(*(entry(number) for number in range(3)), entry(4, stuck=True), entry(5, "q", stuck=True))
    first = take(of, entries=2)
    assert first is not None
    assert offsets(first.entries) == [0, 1]
    second = take(of, entries=2)
    assert second is not None
    assert offsets(second.entries) == [5], "a page has one holder"
    of.forget(of.round_done(first, resolved=[entry(0).position, entry(1).position], rewritten=[]))
    of.release(first)
    assert offsets(taken(of).entries) == [2, 4]


def test_a_page_is_taken_whole_and_in_order_when_any_of_it_is_stuck() -> None:
    """A crash between {1 → output, 2 → stuck} and the end of the batch leaves 1 waiting before 2."""
    assert offsets(taken(ledger(entry(3), entry(2, stuck=True), entry(1))).entries) == [1, 2, 3]


def test_a_page_that_only_waits_is_taken_when_the_main_lane_is_idle_and_after_the_others() -> None:
    of = ledger(entry(1, "waits"), entry(2, "sticks", stuck=True))
    assert [page[2] for page, _entries in taken(of, idle=True).pages] == [b"sticks", b"waits"]
    assert [page[2] for page, _ in taken(ledger(entry(1, "waits"), entry(2, "s", stuck=True))).pages] == [b"s"]


def test_a_running_batch_is_not_idle_whatever_the_caller_says() -> None:
    of = ledger(entry(1, "reserved"), entry(2, "waits"), entry(3, "sticks", stuck=True))
    snapshot = plan(of, entries=1)
    assert [page[2] for page, _entries in taken(of, idle=True).pages] == [b"sticks"]
    settle(of, snapshot)
    assert [page[2] for page, _entries in taken(of, idle=True).pages] == [b"waits"]


def test_a_page_rests_while_any_of_its_entries_has_to() -> None:
    of = ledger(entry(1, stuck=True), entry(2, stuck=True, not_before_ms=100))
    assert take(of, now_ms=99) is None
    assert offsets(taken(of, now_ms=100).entries) == [1, 2]


def test_a_page_is_taken_once() -> None:
    of = ledger(entry(1, stuck=True))
    taken(of)
    assert take(of, idle=True) is None


def test_a_round_takes_so_many_pages_first_those_that_were_deferred_first() -> None:
    of = ledger(*(entry(9 - number, f"p{number}", stuck=True) for number in range(4)))
    first = take(of, pages=3)
    assert first is not None
    assert [page[2] for page, _entries in first.pages] == [b"p0", b"p1", b"p2"]
    second = take(of, pages=3)
    assert second is not None
    assert [page[2] for page, _entries in second.pages] == [b"p3"]
    assert (first.number, second.number) == (1, 2)


def test_a_round_forgets_what_it_resolved_keeps_what_it_wrote_again_and_lets_the_rest_stand() -> None:
    of = ledger(entry(1, stuck=True), entry(2), entry(3))
    round_ = taken(of)
    again = entry(2, stuck=True, attempt=1, not_before_ms=500)
    resolved = of.round_done(round_, resolved=[entry(1).position], rewritten=[again])
    assert offsets(resolved) == [1]
    assert offsets(of.listing()) == [1, 2, 3], "until the tombstone is acked"
    of.forget(resolved)
    of.release(round_)
    assert of.listing() == [again, entry(3)]
    assert take(of, now_ms=499) is None
    assert offsets(taken(of, now_ms=500).entries) == [2, 3]


def test_a_round_is_not_released_before_what_it_resolved_is_forgotten() -> None:
    of = ledger(entry(1, stuck=True))
    round_ = taken(of)
    of.round_done(round_, resolved=[entry(1).position], rewritten=[])
    with pytest.raises(ProtocolError, match="released before source/0/1 is forgotten"):
        of.release(round_)


def test_a_released_page_can_be_reserved_again() -> None:
    of = ledger(entry(1))
    round_ = taken(of, idle=True)
    of.release(round_)
    assert offsets(plan(of).reserved) == [1]
    with pytest.raises(ProtocolError, match="slow round 1 does not hold its pages"):
        of.release(round_)


@pytest.mark.parametrize(
    ("resolved", "rewritten"),
    [([entry(9).position], []), ([], [entry(9)]), ([entry(1).position], [entry(1, stuck=True)])],
)
def test_a_round_speaks_of_its_own_entries_and_of_each_in_one_way(
    resolved: list[Position], rewritten: list[Entry]
) -> None:
    of = ledger(entry(1, stuck=True), entry(9, "q"))
    round_ = taken(of)
    with pytest.raises(ProtocolError, match=r"slow round 1 took no such entry.*: source/0/[19]$"):
        of.round_done(round_, resolved=resolved, rewritten=rewritten)
    assert of.get(entry(1).position) == entry(1, stuck=True)


def test_the_next_page_is_due_when_all_of_it_is() -> None:
    assert take(ledger(), now_ms=1000) is None
    assert take(ledger(entry(1, not_before_ms=7)), now_ms=1000) is None, "nothing of it is stuck"
    of = ledger(
        entry(1, stuck=True, not_before_ms=30),
        entry(2, stuck=True, not_before_ms=80),
        entry(3, "q", stuck=True, not_before_ms=50),
    )
    assert take(of, now_ms=49) is None
    assert offsets(taken(of, now_ms=60).entries) == [3]
    assert take(of, now_ms=79) is None
    assert offsets(taken(of, now_ms=80).entries) == [1, 2]


# --- operators, and void records


def test_retry_makes_an_entry_due_at_once() -> None:
    of = ledger(entry(1, stuck=True, attempt=3, not_before_ms=FAR))
    changed = of.command(entry(1).position, "retry")
    assert changed == entry(1, stuck=True, attempt=3)
    assert of.get(entry(1).position) == changed


def test_drop_marks_an_entry_and_leaves_it_in_its_turn() -> None:
    of = ledger(entry(1, stuck=True, not_before_ms=FAR), entry(2, stuck=True, not_before_ms=FAR))
    assert of.command(entry(2).position, "drop") == entry(2, stuck=True, dropped=True)
    assert of.command(entry(2).position, "retry") == entry(2, stuck=True, dropped=True), "it stays given up"
    assert take(of) is None, "the first still rests"


def test_a_command_for_an_unknown_position_changes_nothing() -> None:
    of = ledger(entry(1))
    assert of.command(entry(2).position, "drop") is None
    assert of.listing() == [entry(1)]


def test_no_command_while_a_lane_has_the_page() -> None:
    of = ledger(entry(1), entry(2, "q", stuck=True))
    plan(of)
    taken(of)
    for position in (entry(1).position, entry(2).position):
        assert of.busy(position)
        with pytest.raises(ProtocolError, match=f"a lane is at work on the page of {position}"):
            of.command(position, "retry")
    assert not of.busy(entry(3).position)


def test_void_records_are_mended_with_what_the_ledger_knows() -> None:
    of = ledger(entry(1, stuck=True))
    of.committed({SourcePartition(entry(1).position.topic, entry(1).position.partition): 3})
    assert of.repairs([entry(1).position, entry(2).position]) == [
        (entry(1).position, entry(1, stuck=True)),
        (entry(2).position, None),
    ]
    assert of.repairs() == []


def test_a_void_record_of_an_event_that_is_not_committed_waits_for_that() -> None:
    """Its event may still be deferred: then the entry is written, and never a tombstone that may come behind it."""
    of = ledger()
    partition = SourcePartition(entry(1).position.topic, entry(1).position.partition)
    assert of.repairs([entry(1).position, entry(2).position]) == []
    of.committed({partition: 2, SourcePartition("another", 0): 9})
    assert of.repairs() == [(entry(1).position, None)]
    snapshot = plan(of)
    of.forget(of.batch_done(snapshot, [entry(2)]))
    of.committed({partition: 3})
    assert of.repairs() == [(entry(2).position, entry(2))]


def test_void_records_of_a_busy_page_are_mended_when_the_lane_is_done() -> None:
    of = ledger(entry(1, stuck=True))
    of.committed({SourcePartition(entry(1).position.topic, entry(1).position.partition): 2})
    round_ = taken(of)
    assert of.repairs([entry(1).position]) == []
    of.forget(of.round_done(round_, resolved=[entry(1).position], rewritten=[]))
    of.release(round_)
    assert of.repairs() == [(entry(1).position, None)]


def test_its_figures() -> None:
    of = ledger(entry(1), entry(2), entry(3, "q"))
    assert (of.entries, of.pages, of.bytes) == (3, 2, 3 * entry(1).size)


def test_no_lane_waits_for_a_clock_that_was_set_back() -> None:
    """No rest is that long."""
    day_ms = 86_400_000
    of = ledger(entry(1, not_before_ms=day_ms), entry(2, "q", stuck=True, not_before_ms=day_ms), longest_rest_ms=1000)
    assert offsets(plan(of).reserved) == [1]
    taken = of.take(now_ms=0, max_pages=9, max_entries=9, idle=False)
    assert taken
    assert offsets(taken.entries) == [2]
