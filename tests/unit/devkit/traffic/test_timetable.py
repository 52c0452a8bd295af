from collections import Counter
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.mix import Mix, apportion
from devkit.traffic.model import TrafficSpec
from devkit.traffic.timetable import plan


def _spec(**change: object) -> TrafficSpec:
    return TrafficSpec.model_validate({"seed": 1, "rate": "20/s", "for": "30s", **change})


@given(st.integers(0, 10_000))
def test_the_seed_changes_the_order_but_no_count(seed: int) -> None:
    slots = plan(_spec(), Random(seed))
    counts = Counter(slot.kind for slot in slots)
    assert counts["move"] + counts["move_with_redirect"] == 18
    assert counts["create"] + counts["create_redirect"] == 48
    assert (counts["delete"], counts["undelete"], counts["visibility_change"]) == (18, 6, 12)
    assert (counts["canary"], counts["not_wikitext"], counts["not_json"], counts["not_schema"]) == (12, 30, 6, 6)
    assert len(slots) == 600


@given(st.integers(0, 10_000), st.floats(0, 0.4), st.floats(0, 0.4))
def test_a_redirect_is_created_right_after_its_move_and_only_there(seed: int, create: float, move: float) -> None:
    slots = plan(_spec(mix={"create": create, "move": move}), Random(seed))
    kinds = [slot.kind for slot in slots]
    moves = [n for n, kind in enumerate(kinds) if kind == "move_with_redirect"]
    assert [n + 1 for n in moves] == [n for n, kind in enumerate(kinds) if kind == "create_redirect"]


def test_slots_are_evenly_spaced_and_start_at_once() -> None:
    slots = plan(_spec(rate="2/s", **{"for": "5s"}), Random(1))
    assert [slot.at for slot in slots] == [timedelta(seconds=n / 2) for n in range(10)]


def test_named_pages_come_on_top_at_their_moments() -> None:
    slots = plan(_spec(pages={"Huge": {"edits": 2, "at": [0.5, 1]}, "Other": {}}), Random(1))
    named = [(slot.named_page, slot.at.total_seconds()) for slot in slots if slot.named_page]
    assert named == [("Huge", 15.0), ("Other", 15.0), ("Huge", 30.0)]
    assert len(slots) == 603
    assert [slot.at for slot in slots] == sorted(slot.at for slot in slots)


@pytest.mark.parametrize("share", ["create", "move", "delete", "undelete", "visibility_change", "canary", "merge"])
def test_a_share_of_one_leaves_room_for_nothing_else(share: str) -> None:
    assert {slot.kind for slot in plan(_spec(mix={**dict.fromkeys(Mix.model_fields, 0.0), share: 1.0}), Random(1))} == {
        share
    }


@pytest.mark.parametrize(
    "pages", [{}, {"Huge": {}}, {"Huge": {"at": [1.0]}}, {"Huge": {"edits": 3, "at": [0.1, 0.5, 0.9999]}}]
)
@pytest.mark.parametrize("rate", ["20/s", "1/s", "3/s", "1/h"])
def test_the_last_event_is_known_without_a_timetable(rate: str, pages: dict[str, object]) -> None:
    if rate == "1/h" and not pages:
        return  # no event
    spec = TrafficSpec.model_validate({"seed": 1, "rate": rate, "for": "7s", "pages": pages})
    assert plan(spec, Random(1))[-1].at == spec.last_event


def test_the_last_event_of_all_streams() -> None:
    links = {"topic": "links", "rate": "1/s", "for": "30s"}
    spec = TrafficSpec.model_validate({"seed": 1, "rate": "1/s", "for": "10s", "streams": {"links": links}})
    assert spec.last_event == timedelta(seconds=29)


@given(st.integers(0, 5000), st.lists(st.integers(0, 1000), min_size=1, max_size=12).filter(any))
def test_apportioned_counts_add_up_and_stay_within_one_of_their_share(total: int, weights: list[int]) -> None:
    shares = {str(n): weight / sum(weights) for n, weight in enumerate(weights)}
    counts = apportion(total, shares)
    assert sum(counts.values()) == total
    assert all(abs(counts[name] - total * share) < 1 + 1e-6 for name, share in shares.items())
