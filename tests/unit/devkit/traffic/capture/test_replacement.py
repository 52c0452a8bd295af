from collections.abc import Iterable
from itertools import combinations
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.capture.id_map import CapturedPages, IdMap
from devkit.traffic.capture.replacement import Replacement
from devkit.traffic.capture.stand_ins import StandIns
from devkit.traffic.records import Traffic
from pipeline.schemas import page_change_validator

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
WIKIS = {"enwiki": "en.wikipedia.org"}


@pytest.fixture
def replacement() -> Replacement:
    return Replacement(StandIns(b"of the test"))


def texts(value: Any, place: str = "") -> dict[str, set[str]]:
    """The texts in an event by their place."""
    found: dict[str, set[str]] = {}
    parts = (
        value.items() if isinstance(value, dict) else [("", one) for one in value] if isinstance(value, list) else []
    )
    for name, part in parts:
        for inner, of_inner in texts(part, f"{place}.{name}".strip(".")).items():
            found.setdefault(inner, set()).update(of_inner)
    return {place: {value}} if isinstance(value, str) else found


def test_no_name_and_no_text_of_an_event_is_left(mixed: Traffic, replacement: Replacement) -> None:
    events = [orjson.loads(one.value) for one in mixed.records if one.expected.fate != "error"]
    secret = {
        text
        for event in events
        for place, found in texts(event).items()
        if place.endswith(("user_text", "page_title", "comment", "sha1", "request_id", "uri"))
        for text in found
        if len(text) > 3
    }
    assert len(secret) > 100
    written = orjson.dumps([replacement.event(event) for event in events]).decode()
    assert [text for text in secret if orjson.dumps(text).decode()[1:-1] in written] == []


def test_an_event_stays_one_of_its_schema_as_long_and_with_what_decides_its_fate(
    mixed: Traffic, replacement: Replacement
) -> None:
    def deciding(event: dict[str, Any]) -> list[Any]:
        of_event = [event[name] for name in ("$schema", "dt", "wiki_id", "changelog_kind", "page_change_kind")]
        of_meta = [event["meta"][name] for name in ("dt", "id", "domain")]
        slot = event["revision"].get("content_slots", {}).get("main", {})
        return [*of_event, *of_meta, event["revision"]["rev_id"], slot.get("content_model")]

    for record in mixed.records:
        if record.expected.fate != "error":
            before = orjson.loads(record.value)
            after = replacement.event(before)
            page_change_validator().validate(after)
            assert len(orjson.dumps(after)) == len(record.value)
            assert deciding(after) == deciding(before)


@pytest.mark.parametrize(
    ("event", "kept"),
    [
        ({"user": "Alice", "text": ["Bob"], "n": 5}, {"n": 5}),
        ({"wiki_id": "Alice was here"}, {}),
        ({"meta": {"id": "Alice", "domain": "Alice's own", "stream": "ALICE"}}, {"meta": {}}),
        ({"dt": "yesterday, says Alice"}, {}),
        ({"content_model": "Alice"}, {}),
        ({"performer": {"groups": ["sysop", "friends of Alice", "*"]}}, {"performer": {"groups": ["sysop", "*"]}}),
    ],
)
def test_what_is_not_known_to_be_no_text_is_replaced(
    event: dict[str, Any], kept: dict[str, Any], replacement: Replacement
) -> None:
    def without(after: Any, before: Any) -> Any:
        if isinstance(after, dict):
            inside = {name: without(one, before[name]) for name, one in after.items()}
            return {name: one for name, one in inside.items() if one is not None}
        if isinstance(after, list):
            return [one for one, was in zip(after, before, strict=True) if one == was] or None
        return after if after == before else None

    after = replacement.event(event)
    assert without(after, event) == kept
    assert b"lice" not in orjson.dumps(after)


def test_of_a_user_only_magnitudes_stay(replacement: Replacement) -> None:
    user = {"user_text": "Alice", "user_id": 4711, "edit_count": 48_213, "registration_dt": "2014-05-17T12:34:56Z"}
    after = replacement.event({"performer": user})["performer"]
    assert after["edit_count"] == 40_000
    assert after["registration_dt"] == "2014-01-01T00:00:00Z"
    assert (after["user_id"] == 4711, len(str(after["user_id"]))) == (False, 4)
    assert replacement.event({"revision": {"editor": user}})["revision"]["editor"] == after


def test_no_id_of_a_user_stays_however_the_schema_calls_it(replacement: Replacement) -> None:
    for name in ("user_id", "user_central_id", "rev_user_id", "actor_id"):
        for number in (1351079888211148, 4711, 4711.0):
            after = replacement.event({"performer": {name: number}})["performer"][name]
            assert (after != number, type(after), len(str(after))) == (True, type(number), len(str(number)))
    user = {"user_edit_count": 48_213, "user_registration_dt": "2014-05-17T12:34:56.789+05:30"}
    after = replacement.event({"performer": user})["performer"]
    assert after == {"user_edit_count": 40_000, "user_registration_dt": "2014-01-01T00:00:00.000+00:00"}


def test_the_address_of_a_page_keeps_its_host(replacement: Replacement) -> None:
    uri = replacement.event({"meta": {"uri": "https://en.wikipedia.org/wiki/Alice"}})["meta"]["uri"]
    assert uri.startswith("https://en.wikipedia.org/wiki/")
    assert (len(uri), uri.endswith("lice")) == (len("https://en.wikipedia.org/wiki/Alice"), False)


def test_a_key_keeps_its_ids_and_no_text(replacement: Replacement) -> None:
    assert replacement.key(b'{"wiki_id": "enwiki", "page_id": 5}') == '{"wiki_id":"enwiki","page_id":5}'
    assert "Alice" not in replacement.key(b'{"user": "Alice"}')
    for key in (b"Alice", b"4711", b"\xff\xfe\x00Alice", b'{"a":' * 300 + b'"Alice"' + b"}" * 300):
        assert replacement.key(key) == replacement.key(key) != key.decode(errors="replace")
        assert len(replacement.key(key)) == len(key)


def test_it_counts_what_it_replaced_by_place(replacement: Replacement) -> None:
    for _ in range(2):
        replacement.event({"performer": {"user_text": "Alice"}, "dt": "2026-03-02T09:00:00Z", "comment": ""})
    assert replacement.fields == {"performer.user_text": 2}


@given(st.lists(TEXTS, max_size=20))
def test_lengths_stay_and_what_was_equal_is_equal_and_nothing_else(texts: list[str]) -> None:
    stand_ins = StandIns()
    made = [stand_ins.text(text) for text in texts]
    for text, stand_in in zip(texts, made, strict=True):
        assert len(stand_in) == len(text)
        assert len(stand_in.encode()) == len(text.encode())
        assert len(orjson.dumps(stand_in)) == len(orjson.dumps(text))
    # What JSON escapes stays, so texts of nothing else are their own stand-ins.
    for (one, made_of_one), (other, made_of_other) in combinations(zip(texts, made, strict=True), 2):
        assert (one == other) == (made_of_one == made_of_other)


@given(TEXTS.filter(lambda text: any(letter.isalnum() for letter in text)))
def test_no_text_stands_for_itself(text: str) -> None:
    assert StandIns().text(text) != text


def test_a_key_decides_and_is_drawn_anew() -> None:
    assert StandIns(b"one").text("Alice") == StandIns(b"one").text("Alice")
    assert StandIns(b"one").text("Alice") != StandIns(b"other").text("Alice")
    assert StandIns().text("Alice") != StandIns().text("Alice")
    assert StandIns(b"one").digest(b"x") != StandIns(b"other").digest(b"x")


@pytest.mark.parametrize(("text", "is_upper"), [("Alice", True), ("alice", False), ("2001:DB8::1", None)])
def test_it_begins_as_a_title_does(text: str, is_upper: bool | None) -> None:
    first = StandIns(b"a").text(text)[0]
    assert first.isdigit() or is_upper is None or first.isupper() == is_upper


@given(st.lists(st.integers(-(10**12), 10**12), max_size=8))
def test_a_number_keeps_its_digits_and_its_equals(numbers: list[int]) -> None:
    stand_ins = StandIns()
    made = [stand_ins.number(number) for number in numbers]
    assert [len(str(one)) for one in made] == [len(str(number)) for number in numbers]
    for (one, of_one), (other, of_other) in combinations(zip(numbers, made, strict=True), 2):
        assert (one == other) == (of_one == of_other)


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_one_digit_are_told_apart_by_any_key(sign: int) -> None:
    for key in range(100):
        stand_ins = StandIns(bytes([key]))
        made = [stand_ins.number(sign * number) for number in range(1, 9)]
        assert len({*made}) == 8
        assert {len(str(one)) for one in made} == {len(str(sign))}


def test_where_there_are_not_enough_two_texts_share_one() -> None:
    stand_ins = StandIns()
    made = [stand_ins.text(chr(code)) for code in range(ord("#"), ord("["))]
    assert all(len(one) == 1 for one in made)


def event(page_id: Any, rev_id: int, parent_id: int = 0, wiki: str = "enwiki", **more: Any) -> dict[str, Any]:
    return {
        "meta": {"domain": "x.example.org"},
        "wiki_id": wiki,
        "page": {"page_id": page_id, "page_title": f"Page {page_id}", "namespace_id": 0},
        "revision": {"rev_id": rev_id, "rev_parent_id": parent_id, "rev_dt": "2026-11-23T03:00:00Z"},
        **more,
    }


def noted(events: Iterable[dict[str, Any]]) -> CapturedPages:
    pages = CapturedPages()
    for number, one in enumerate(events):
        pages.note(one, number)
    return pages


def id_map(events: Iterable[dict[str, Any]]) -> IdMap:
    return IdMap(noted(events), WIKIS)


def test_pages_count_in_order_and_revisions_by_their_ids() -> None:
    events = [event(700, 90, 80), event(5, 91, 85), event(700, 100, 90)]
    ids = id_map(events)
    found = [ids.mapped(one) for one in events]
    assert [one["page"]["page_id"] for one in found] == [1, 2, 1]
    made = [(one["revision"]["rev_id"], one["revision"]["rev_parent_id"]) for one in found]
    assert made == [(4098, 4097), (8194, 8193), (4099, 4098)]
    assert [one["meta"]["domain"] for one in found] == ["en.wikipedia.org"] * 3
    assert events[0]["page"]["page_id"] == 700
    page, other = ids.pages()
    assert [(one.rev_id, one.parent_id) for one in page.revisions] == [(4097, 0), (4098, 4097), (4099, 4098)]
    assert (page.title, other.title) == ("Page 700", "Page 5")


def test_a_parent_with_a_higher_id_can_still_be_fetched() -> None:
    merged = event(1, 50, 60)
    ids = id_map([merged])
    assert ids.mapped(merged)["revision"] == {**merged["revision"], "rev_id": 4097, "rev_parent_id": 4098}
    (page,) = ids.pages()
    assert [(one.rev_id, one.parent_id) for one in page.revisions] == [(4097, 0), (4098, 0)]


def test_the_same_id_on_two_wikis_is_two_pages() -> None:
    events = [event(1, 50), event(1, 50, wiki="dewiki")]
    ids = id_map(events)
    first, second = (ids.mapped(one) for one in events)
    assert (first["wiki_id"], second["wiki_id"]) == ("enwiki", "enwiki")
    assert (first["page"]["page_id"], second["page"]["page_id"]) == (1, 2)
    assert ids.place_of("dewiki", 1) == ("enwiki", 2)
    assert ids.place_of("dewiki", 7) is None


def test_a_page_that_is_only_named_gets_an_id_and_no_place_in_the_mock() -> None:
    moved = event(1, 50, created_redirect_page={"page_id": 9}, prior_state={"page": {"page_id": 8}})
    ids = id_map([moved])
    found = ids.mapped(moved)
    assert {found["created_redirect_page"]["page_id"], found["prior_state"]["page"]["page_id"]} == {2, 3}
    assert [page.page_id for page in ids.pages()] == [1]


def test_a_whole_number_with_a_point_is_an_id_too() -> None:
    ids = id_map([event(1.0, 50), event(1, 51, 50)])
    assert [len(page.revisions) for page in ids.pages()] == [2]


@pytest.mark.parametrize(
    "odd",
    [
        {"meta": {"domain": "canary"}, "wiki_id": "enwiki", "page": {"page_id": 1}},
        {"wiki_id": 7, "page": {"page_id": 1}},
        {"wiki_id": "enwiki", "page": "Main"},
        {"wiki_id": "enwiki", "page": {"page_id": "1"}},
    ],
)
def test_what_is_no_page_change_is_not_touched(odd: dict[str, Any]) -> None:
    ids = id_map([odd])
    assert ids.mapped(odd) == odd
    assert ids.pages() == ()


@pytest.mark.parametrize("revision", [None, "x", {"rev_id": None, "content_slots": "x"}, {"rev_id": -4}])
def test_an_event_with_an_odd_revision_is_mapped_as_far_as_it_goes(revision: Any) -> None:
    odd = {**event(7, 1), "revision": revision}
    ids = id_map([odd])
    assert ids.mapped(odd)["page"]["page_id"] == 1
    assert ids.mapped(odd)["revision"] == revision


def test_a_page_with_too_many_revisions_is_told() -> None:
    pages = noted(event(7, number, number - 1) for number in range(2, 4098))
    assert pages.crowded == [(("enwiki", 7), 4097)]


def test_the_title_is_that_of_the_latest_event_whatever_the_order_of_the_file() -> None:
    pages = CapturedPages()
    for title, at_ms in (("Before", 5), ("After", 9), ("Long before", 1)):
        named = event(7, 50)
        named["page"]["page_title"] = title
        pages.note(named, at_ms)
    assert pages.titles == ("After",)
