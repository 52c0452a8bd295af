"""Page sets, by what a real MediaWiki 1.43.9 answered."""

from typing import Any

import pytest

EMPTY = "The requested page title is empty or contains only a namespace prefix."
COLON = "The requested page title contains an invalid colon at the beginning."


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Talk:Old harbour", {"pageid": 4, "ns": 1, "title": "Talk:Old harbour"}),
        ("MediaWiki:Mainpage", {"ns": 8, "title": "MediaWiki:Mainpage", "missing": True, "known": True}),
        ("Special:BlankPage/x", {"ns": -1, "title": "Special:BlankPage/x", "special": True}),
        ("Special:Nope", {"ns": -1, "title": "Special:Nope", "special": True, "missing": True}),
        ("Media:X.png", {"ns": -2, "title": "Media:X.png", "special": True, "missing": True}),
        ("Talk:", {"title": "Talk:", "invalidreason": EMPTY, "invalid": True}),
    ],
)
def test_every_kind_of_title_has_its_node(api: Any, title: str, expected: dict[str, Any]) -> None:
    assert api.query(titles=title) == {"pages": [expected]}


def test_titles_that_were_written_otherwise_are_told(api: Any) -> None:
    answer = api.query(titles="old_harbour|Nope|User:a/b#x|a&amp;b")
    assert list(answer) == ["normalized", "pages"]
    assert answer["normalized"] == [
        {"fromencoded": False, "from": "old_harbour", "to": "Old harbour"},
        {"fromencoded": False, "from": "User:a/b#x", "to": "User:A/b"},
        {"fromencoded": False, "from": "a&amp;b", "to": "A&b"},
    ]
    assert api.query(titles="old_harbour", formatversion=1)["normalized"] == [
        {"from": "old_harbour", "to": "Old harbour"}
    ]


def test_pages_without_an_id_are_numbered_downwards(api: Any) -> None:
    titles = "Talk:Y|Nope|::X::|Special:A|Old harbour|<|Talk:Z|B"
    assert {number: page["title"] for number, page in api.query(titles=titles, formatversion=1)["pages"].items()} == {
        "-1": "::X::",
        "-2": "<",
        "-3": "Special:A",
        "-4": "Talk:Y",
        "-5": "Talk:Z",
        "-6": "Nope",
        "-7": "B",
        "1": "Old harbour",
    }
    assert [page["title"] for page in api.query(titles=titles)["pages"]][:2] == ["B", "Nope"]


def test_page_ids_that_nobody_has_are_missing(api: Any) -> None:
    assert api.query(pageids="88|1|0|5")["pages"] == [
        {"pageid": 0, "missing": True},
        {"pageid": 1, "ns": 0, "title": "Old harbour"},
        {"pageid": 5, "missing": True},
        {"pageid": 88, "missing": True},
    ]


@pytest.mark.parametrize("version", [1, 2])
def test_bad_revisions_are_told_before_the_pages(api: Any, version: int) -> None:
    answer = api.query(revids="4098|99999|-5|20481|4097", formatversion=version)
    missing: object = True if version == 2 else ""
    assert list(answer) == ["badrevids", "pages"]
    assert answer["badrevids"] == {
        rev_id: {"revid": int(rev_id), "missing": missing} for rev_id in ("99999", "-5", "20481")
    }


def test_redirects_of_page_ids_are_followed_too(api: Any) -> None:
    assert [page["title"] for page in api.query(pageids="2", redirects=1)["pages"]] == ["Old harbour"]


def test_redirects_of_revisions_are_not_followed(api: Any) -> None:
    answer = api.get(action="query", revids="8193", redirects=1).json
    assert answer["warnings"]["query"]["warnings"].startswith("Redirect resolution cannot be used together with")
    assert answer["query"]["pages"][0]["title"] == "To harbour"


@pytest.mark.parametrize("fault", [{"missing": True}, {"replica_lag": {"attempts": 5}}])
def test_a_rule_can_have_a_revision_missing(make_api: Any, fault: dict[str, Any]) -> None:
    api = make_api(rules=({"name": "gone", "when": {"revision": 4098}, "do": fault},))
    answer = api.query(revids="4098|4097")
    assert answer["badrevids"] == {"4098": {"revid": 4098, "missing": True}}
    assert answer["pages"][0]["title"] == "Old harbour"


def test_a_page_whose_newest_revision_is_missing_is_as_it_was_before(make_api: Any) -> None:
    api = make_api(rules=({"name": "lag", "when": {"revision": 4099}, "do": {"missing": True}},))
    (page,) = api.query(titles="Old harbour", prop="info|revisions", rvprop="ids")["pages"]
    assert (page["lastrevid"], page["revisions"]) == (4098, [{"revid": 4098, "parentid": 4097}])
    (page,) = api.query(titles="Old harbour", prop="revisions", rvprop="ids", rvlimit=9)["pages"]
    assert [one["revid"] for one in page["revisions"]] == [4098, 4097]


def test_a_page_that_a_rule_has_missing_is_missing(make_api: Any) -> None:
    api = make_api(rules=({"name": "gone", "when": {"page": "Old harbour"}, "do": {"missing": True}},))
    assert api.query(titles="Old harbour")["pages"] == [{"ns": 0, "title": "Old harbour", "missing": True}]
    assert api.query(pageids="1")["pages"] == [{"pageid": 1, "missing": True}]
