from collections.abc import Iterable
from typing import Any

import pytest

from devkit.traffic.capture.id_map import CapturedPages, IdMap

WIKIS = {"enwiki": "en.wikipedia.org"}


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
