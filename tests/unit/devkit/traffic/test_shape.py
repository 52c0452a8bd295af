"""Phases, canaries, hot pages and patched events: exact counts at their times, the same bytes for the same seed."""

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.mix import Mix, apportion
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord
from devkit.traffic.timetable import plan

PLAIN = dict.fromkeys(
    ("create", "move", "delete", "undelete", "visibility_change", "canary", "not_wikitext", "not_json", "not_schema"), 0
)
BURST = [{"for": "2s", "rate": "5/s"}, {"name": "burst", "for": "1s", "rate": "50/s"}, {"for": "3s"}]


def spec(**changes: Any) -> TrafficSpec:
    paced = {} if "phases" in changes else {"rate": "20/s", "for": "5s"}
    return TrafficSpec.model_validate({"seed": 7, **paced, **changes})


def records(**changes: Any) -> tuple[SourceRecord, ...]:
    return generate_all(spec(**changes)).records


def title_of(record: SourceRecord) -> str | None:
    return record.expected.page.title if record.expected.page else None


def test_phases_have_their_own_rates_one_after_the_other() -> None:
    found = spec(phases=BURST)
    assert (found.for_, found.event_count, found.last_event) == (timedelta(seconds=6), 60, timedelta(seconds=2.98))
    assert found.named_phases == {"burst": (timedelta(seconds=2), timedelta(seconds=3))}
    seconds = Counter(int(record.at.total_seconds()) for record in records(phases=BURST))
    assert seconds == {0: 5, 1: 5, 2: 50}
    slower = stretched(spec(phases=BURST), 3)
    assert (slower.for_, slower.event_count) == (timedelta(seconds=18), 60)
    assert slower.named_phases == {"burst": (timedelta(seconds=6), timedelta(seconds=9))}


def test_canaries_come_at_their_time_on_top_of_those_of_the_mix() -> None:
    found = records(mix=PLAIN, canaries={"every": "2s"})
    canaries = [record for record in found if record.expected.reason == "canary"]
    assert [record.at.total_seconds() for record in canaries] == [2, 4]
    assert len(found) == 102
    assert orjson.loads(canaries[0].value)["meta"]["domain"] == "canary"


def test_a_hot_page_takes_its_share_in_place_of_others() -> None:
    found = records(mix=PLAIN, pages={"Hot": {"share": "33%"}, "Named": {"edits": 2}})
    assert Counter(title_of(record) for record in found)["Hot"] == 33
    assert len(found) == 102
    first, last = (at for at in (found[0].at, found[-1].at))
    hot = [record.at for record in found if title_of(record) == "Hot"]
    assert hot[0] < first + timedelta(seconds=1)
    assert hot[-1] > last - timedelta(seconds=1)


def test_canaries_change_none_of_the_other_fates() -> None:
    plain, with_canaries = records(), records(canaries={"every": "2500ms"})
    scheduled = [n for n, record in enumerate(with_canaries) if record.at.total_seconds() in (2.5, 5)]
    added = {scheduled[-1], next(n for n in reversed(scheduled) if with_canaries[n].at.total_seconds() == 2.5)}
    fates = [record.expected.fate for n, record in enumerate(with_canaries) if n not in added]
    assert fates == [record.expected.fate for record in plain]


def test_a_patch_sets_fields_of_the_edits_it_names() -> None:
    pages = {"Huge": {"edits": 2, "at": [0.2, 0.8]}, "Other": {}}
    found = records(pages=pages, patch=[{"page": "Huge", "edit": 2, "set": {"performer.user_text": "Ü" * 500}}])
    names = [orjson.loads(record.value)["performer"]["user_text"] for record in found if title_of(record) == "Huge"]
    assert (names[0] == "Ü" * 500, names[1]) == (False, "Ü" * 500)
    unpatched = records(pages=pages)
    assert sum(a.value != b.value for a, b in zip(found, unpatched, strict=True)) == 1
    assert [a.expected for a in found] == [b.expected for b in unpatched]


def test_a_patched_event_still_has_its_exact_size() -> None:
    page = {"Huge": {"event_bytes": 9_000}}
    found = records(pages=page, patch=[{"page": "Huge", "set": {"performer.user_text": "x" * 3_000}}])
    (huge,) = [record for record in found if title_of(record) == "Huge"]
    assert len(huge.value) == 9_000


def test_an_event_that_is_broken_on_purpose_ends_in_its_error() -> None:
    patch = {"page": "Huge", "set": {"wiki_id": 7}, "error": "schema_violation"}
    (broken,) = [r for r in records(mix=PLAIN, pages={"Huge": {}}, patch=[patch]) if r.expected.fate == "error"]
    assert (broken.expected.reason, orjson.loads(broken.value)["wiki_id"]) == ("schema_violation", 7)


def test_fields_are_added_and_removed() -> None:
    patch = {"page": "Huge", "add": {"comment": "A reason"}, "remove": ["performer", "revision.editor"]}
    plain, patched = (
        next(record for record in records(pages={"Huge": {}}, patch=patches) if title_of(record) == "Huge")
        for patches in ([], [patch])
    )
    before, after = orjson.loads(plain.value), orjson.loads(patched.value)
    assert before.keys() ^ after.keys() == {"comment", "performer"}
    assert (after["comment"], before["revision"].keys() - after["revision"].keys()) == ("A reason", {"editor"})
    assert patched.expected == plain.expected


@pytest.mark.parametrize(
    ("change", "fate", "reason"),
    [
        ({"remove": ["wiki_id"]}, "error", "schema_violation"),
        ({"set": {"revision.content_slots.main.content_model": "json"}}, "filtered", "content_model"),
        ({"set": {"revision.is_content_visible": False}}, "output", None),
    ],
)
def test_an_event_ends_by_its_changed_fields_where_an_arm_says_no_error(
    change: dict[str, Any], fate: str, reason: str | None
) -> None:
    patch = {"page": "Huge", **change, "error": {"fixed": "poisoned"}}
    (changed,) = [r for r in records(mix=PLAIN, pages={"Huge": {}}, patch=[patch]) if r.errors]
    assert (changed.expected.fate, changed.expected.reason) == (fate, reason)
    assert (changed.errors, changed.expected.latest_revision) == ({"fixed": "poisoned"}, None)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"set": {"performer.user_txt": "x"}}, "an edit of page Huge has no field performer.user_txt"),
        ({"set": {"performer.user_text": 3}}, "performer.user_text is text in the event, and 3 is a whole number"),
        ({"set": {"performer.user_id": -5}}, "does not fit its schema: performer.user_id: -5 is less than the minimum"),
        ({"set": {"performer.user_id": 2**64}}, "cannot be written as JSON: Integer exceeds 64-bit range"),
        ({"set": {"wiki_id": 2**64}, "error": "schema_violation"}, "cannot be written as JSON"),
        ({"add": {"performer.user_text": "x"}}, "an edit of page Huge has a field performer.user_text"),
        ({"add": {"nothing.at_all": "x"}}, "an edit of page Huge has no field nothing"),
        ({"add": {"comment": 7}}, "does not fit its schema: comment"),
        ({"remove": ["performer.user_name"]}, "an edit of page Huge has no field performer.user_name"),
        ({"remove": ["revision"]}, "does not fit its schema"),
    ],
)
def test_a_patch_that_does_not_fit_the_event(patch: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        records(pages={"Huge": {}}, patch=[{"page": "Huge", **patch}])


PATCHED: dict[str, Any] = {"pages": {"A": {}}}
WITHOUT_ID = {"page": "A", "remove": ["meta.id"], "error": {"fixed": "x"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phases": BURST, "rate": "2/s"}, "phases say rate and for themselves"),
        ({"phases": [{"rate": "2/s"}]}, "phases.0.for"),
        ({"phases": [{"for": "2s"}]}, "gives no event"),
        ({"phases": BURST + BURST}, "two parts of the traffic are called 'burst'"),
        ({"phases": [BURST[1] | {"name": "traffic"}]}, "two parts of the traffic are called 'traffic'"),
        ({"pages": {"Hot": {"share": "30%", "edits": 2}}}, "leave edits and at out"),
        ({"pages": {"Hot": {"share": "60%"}, "B": {"share": "60%"}}}, "add up to more than all drawn events"),
        ({"rate": "9000/s", "pages": {"Hot": {"share": "30%"}}}, "would have 13500 edits, more than 4000"),
        ({"patch": [{"page": "Huje", "set": {"a": 1}}], "pages": {"Huge": {}}}, "no page 'Huje' in pages; did"),
        ({"patch": [{"page": "A", "edit": 2, "set": {"a": 1}}], "pages": {"A": {}}}, "'A' has 1 edit, not 2"),
        (PATCHED | {"patch": [{"page": "A", "set": {"meta.domain": "b"}}]}, "domain decides what becomes of the event"),
        ({"patch": [{"page": "A", "remove": ["dt"]}], "pages": {"A": {}}}, "dt decides what becomes of the event"),
        ({"patch": [{"page": "A"}], "pages": {"A": {}}}, "write set, add or remove"),
        (PATCHED | {"patch": [{"page": "A", "set": {"a": 1}, "remove": ["a"]}]}, "a is in two of set, add and remove"),
        ({"patch": [{"page": "A", "remove": ["a"], "error": {}}], "pages": {"A": {}}}, "error names no arm"),
        (PATCHED | {"patch": [WITHOUT_ID]}, "by meta.id the arms' errors find the event"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**changes)


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
