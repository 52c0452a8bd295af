from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.entry import Entry, Page
from pipeline.deferral.lane import OPEN_FENCE, MainLane, Policy, SlowLane
from pipeline.deferral.snapshot import Fence, Reservation
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import entry

PAGE, OTHER = entry(0).page, entry(0, "other").page
POLICY = Policy(inline_allowance_s=5, slow_deadline_s=120, total_attempts=3, backoff_base_s=10, backoff_cap_s=35)


def at(offset: int) -> Position:
    return entry(offset).position


def main_lane(
    blocked: Mapping[Page, Position] | None = None, unreserved: tuple[int, ...] = (), **reservations: Reservation
) -> MainLane:
    reserved = {at(int(name.removeprefix("at"))): reservation for name, reservation in reservations.items()}
    return MainLane(Fence(blocked or {}, frozenset(map(at, unreserved)), reserved))


def hold(lane: MainLane, offset: int) -> Entry:
    return lane.defer(at(offset), key=b"p", value=b"value", appended_us=1)


def stick(lane: MainLane, offset: int, **changes: int) -> Entry:
    return lane.defer(
        at(offset), key=b"p", value=b"value", appended_us=1, reason="took too long", **changes, is_tried=True
    )


# --- main lane


def test_an_event_of_a_free_page_runs() -> None:
    assert MainLane(OPEN_FENCE).admit(at(1), PAGE) == "run"


@pytest.mark.parametrize(("offset", "admission"), [(4, "run"), (5, "hold"), (6, "hold")])
def test_a_page_runs_below_its_block_only(offset: int, admission: str) -> None:
    lane = main_lane({PAGE: at(5)})
    assert lane.admit(at(offset), PAGE) == admission
    assert lane.admit(at(offset), OTHER) == "run"


def test_a_row_that_the_ledger_has_and_the_batch_did_not_reserve_is_dropped() -> None:
    """Its entry stands, with its attempts; below the block it can be only when the batch is a replayed one."""
    lane = main_lane({PAGE: at(5)}, unreserved=(5, 7))
    assert [lane.admit(at(offset), PAGE) for offset in (4, 5, 6, 7)] == ["run", "drop", "hold", "drop"]


def test_what_follows_a_deferred_event_of_the_page_is_held() -> None:
    lane = main_lane()
    assert lane.admit(at(2), PAGE) == "run"
    stick(lane, 1)
    assert lane.admit(at(2), PAGE) == "hold", "also when it ran ahead"
    assert lane.admit(at(2), OTHER) == "run"


def test_an_event_that_does_not_finish_is_stuck_and_its_try_counts() -> None:
    assert stick(main_lane(), 1) == entry(1, stuck=True, attempt=1, reason="took too long")
    lane = main_lane(at1=Reservation(attempt=1, dropped=False, reason="before"))
    assert stick(lane, 1, not_before_ms=9).attempt == 2


def test_an_event_that_is_held_was_not_tried() -> None:
    held = hold(main_lane({PAGE: at(1)}), 1)
    assert (held.kind, held.attempt, held.not_before_ms, held.dropped) == ("waiting", 0, 0, False)


def test_a_reserved_entry_that_is_held_again_keeps_its_attempts() -> None:
    assert hold(main_lane(at1=Reservation(attempt=2, dropped=False, reason="before")), 1).attempt == 2


def test_a_dropped_entry_that_is_held_again_stays_dropped_and_keeps_its_reason() -> None:
    lane = main_lane(at1=Reservation(attempt=0, dropped=True, reason="given up"))
    assert lane.reservation(at(1)).dropped
    assert lane.reservation(at(1)).reason == "given up"
    held = hold(lane, 1)
    assert (held.dropped, held.reason) == (True, "given up")


def test_a_new_row_is_not_dropped() -> None:
    assert not main_lane().reservation(at(1)).dropped
    assert main_lane().reservation(at(1)).reason == ""


@pytest.mark.parametrize(("first", "then"), [("output", "error"), ("error", "output")])
def test_a_page_writes_to_one_of_the_two_topics_in_a_batch(first: str, then: str) -> None:
    lane = main_lane()
    assert lane.may_emit(PAGE, first)
    assert lane.may_emit(PAGE, first)
    assert not lane.may_emit(PAGE, then)
    assert lane.may_emit(OTHER, then)
    assert MainLane(OPEN_FENCE).may_emit(PAGE, then), "the next batch is another matter"


# --- slow lane


def test_the_rest_of_a_page_stands_behind_an_entry_that_failed() -> None:
    lane = SlowLane(POLICY)
    assert lane.admit(PAGE) == "run"
    assert lane.failed(entry(1, stuck=True, attempt=1), now_ms=0, reason="slow")
    assert lane.admit(PAGE) == "skip"
    assert lane.admit(OTHER) == "run"


def test_an_entry_that_failed_rests_longer_each_time() -> None:
    again = SlowLane(POLICY).failed(entry(1, attempt=0), now_ms=1000, reason="slow")
    assert again == entry(1, stuck=True, attempt=1, not_before_ms=11_000, reason="slow")
    again = SlowLane(POLICY).failed(entry(1, attempt=1), now_ms=1000, reason="slow")
    assert again == entry(1, stuck=True, attempt=2, not_before_ms=21_000, reason="slow")


def test_after_the_last_try_an_entry_becomes_an_error_event_and_its_page_goes_on() -> None:
    lane = SlowLane(POLICY)
    assert lane.failed(entry(1, stuck=True, attempt=2), now_ms=0, reason="slow") is None
    assert lane.admit(PAGE) == "run"


@pytest.mark.parametrize(("asked_s", "backoff_ms"), [(5.0, 10_000), (30.5, 30_500), (60.0, 35_000), (1e9, 35_000)])
def test_what_the_upstream_asks_for_is_the_least_but_for_the_cap(asked_s: float, backoff_ms: int) -> None:
    again = SlowLane(POLICY).failed(entry(1), now_ms=0, reason="busy", retry_after_s=asked_s)
    assert again is not None
    assert again.not_before_ms == backoff_ms


@pytest.mark.parametrize(("first", "then"), [("output", "error"), ("error", "output")])
def test_where_the_topic_would_change_the_rest_of_the_page_stands(first: str, then: str) -> None:
    lane = SlowLane(POLICY)
    assert lane.may_emit(PAGE, first)
    assert not lane.may_emit(PAGE, then)
    assert lane.admit(PAGE) == "skip"
    assert lane.admit(OTHER) == "run"


# --- policy


def test_backoff_doubles_up_to_its_cap() -> None:
    assert [POLICY.backoff_ms(attempt) for attempt in (1, 2, 3, 4)] == [10_000, 20_000, 35_000, 35_000]


@given(attempt=st.integers(-5, 10**9), base=st.floats(0, 1e6), cap=st.floats(0, 1e9))
def test_backoff_is_within_its_cap_and_never_shrinks(attempt: int, base: float, cap: float) -> None:
    policy = Policy(1, 1, 1, backoff_base_s=base, backoff_cap_s=cap)
    assert 0 <= policy.backoff_ms(attempt) <= policy.backoff_ms(attempt + 1) <= round(1000 * cap)
