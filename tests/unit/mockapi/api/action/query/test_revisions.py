"""Revisions over the Action API, beyond the requests of tests/conformance/requests."""

from typing import Any

import pytest

from mockapi.api.action.query.revision_info import comment_html

ALL = (
    "ids|flags|user|userid|timestamp|size|sha1|roles|content|contentmodel|slotsize|slotsha1|comment|parsedcomment|tags"
)
SECTION = '<a href="/wiki/Old_harbour#A_b" title="Old harbour">→<bdi dir="ltr">A b</bdi></a>'
MISSING = 'class="new" title="Nope (page does not exist)"'
HIDDEN = {"name": "hide", "when": {"revision": 4098}, "do": {"hidden": {"parts": ["text", "user", "comment"]}}}


def ids(api: Any, **parameters: Any) -> list[int]:
    (page,) = api.query(prop="revisions", rvprop="ids", **{"titles": "Old harbour", **parameters})["pages"]
    return [one["revid"] for one in page.get("revisions", [])]


def test_revisions_are_grouped_by_page_in_ascending_order(api: Any) -> None:
    pages = api.query(prop="revisions", revids="8193|4099|4097|4097", rvprop="ids")["pages"]
    assert [(page["title"], [one["revid"] for one in page["revisions"]]) for page in pages] == [
        ("Old harbour", [4097, 4099]),
        ("To harbour", [8193]),
    ]


def test_of_pages_the_current_one_is_told(api: Any) -> None:
    pages = api.query(prop="revisions", titles="To harbour|Old harbour|Nope", rvprop="ids")["pages"]
    assert [[one["revid"] for one in page.get("revisions", [])] for page in pages] == [[], [4099], [8193]]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"rvlimit": 2}, [4099, 4098]),
        ({"rvlimit": "max"}, [4099, 4098, 4097]),
        ({"rvdir": "newer"}, [4097, 4098, 4099]),
        ({"rvstartid": 4098}, [4098, 4097]),
        ({"rvendid": 4098}, [4099, 4098]),
        ({"rvstartid": 4098, "rvdir": "newer"}, [4098, 4099]),
        ({"rvstart": "2026-03-02T05:06:07Z"}, [4098, 4097]),
        ({"rvend": "2026-03-02T05:06:08Z"}, [4099]),
        ({"rvstart": "2026-03-02T05:06:08Z", "rvdir": "newer"}, [4099]),
        ({"rvuser": "ada"}, [4099, 4097]),
        ({"rvexcludeuser": "Ada"}, [4098]),
        ({"rvlimit": 9, "rvcontinue": "20260302050607|4098"}, [4098, 4097]),
        ({"rvlimit": 9, "rvdir": "newer", "rvcontinue": "20260302050607|4098"}, [4098, 4099]),
        ({"rvtag": "mw-replace"}, []),
    ],
)
def test_the_history_of_a_page_can_be_cut(api: Any, parameters: dict[str, Any], expected: list[int]) -> None:
    assert ids(api, **parameters) == expected


def test_asking_for_the_most_says_what_that_is(api: Any, admin: Any) -> None:
    parameters = {"action": "query", "prop": "revisions", "titles": "Old harbour", "rvlimit": "max"}
    assert api.another().get(**parameters).json["limits"] == {"revisions": 500}
    assert admin.get(**parameters).json["limits"] == {"revisions": 5000}
    assert admin.another().get(**parameters, rvprop="content", rvslots="main").json["limits"] == {"revisions": 50}


def test_a_title_that_is_missing_does_not_count_as_a_page(api: Any) -> None:
    pages = api.query(prop="revisions", titles="Old harbour|Nope", rvlimit=1, rvprop="ids")["pages"]
    assert [page["title"] for page in pages if "revisions" in page] == ["Old harbour"]


def test_a_rule_that_hides_the_author_hides_it_from_filters_too(make_api: Any) -> None:
    api = make_api(rules=({"name": "hide", "when": {"revision": 4099}, "do": {"hidden": {"parts": ["user"]}}},))
    assert ids(api, rvuser="Ada") == [4097]


def test_generated_revisions_have_a_source_that_stays(api: Any) -> None:
    first, second = (
        api.query(prop="revisions", revids="28673", rvprop="content|size|sha1", rvslots="main") for _ in range(2)
    )
    assert first == second
    revision = first["pages"][0]["revisions"][0]
    assert len(revision["slots"]["main"]["content"].encode()) == revision["size"] > 0


@pytest.mark.parametrize(("version", "cached"), [("visitor", "public"), ("admin", "private")])
def test_who_sees_hidden_revisions_gets_a_private_answer(api: Any, version: str, cached: str) -> None:
    client = api.log_in() if version == "admin" else api
    answer = client.get(action="query", prop="revisions", revids="4097", maxage=60, smaxage=60)
    assert cached in answer["cache-control"]


def revision(api: Any, rev_id: int = 4098, *, rvprop: str = ALL, **parameters: Any) -> Any:
    answer = api.query(prop="revisions", revids=rev_id, rvprop=rvprop, **parameters)["pages"]
    (page,) = answer.values() if isinstance(answer, dict) else answer
    return page["revisions"][0]


@pytest.mark.parametrize(
    ("rvprop", "shape"), [("", {}), ("bogus", {}), ("tags", {"tags": []}), ("content", {"slots": {}})]
)
def test_little_asked_is_little_told(api: Any, rvprop: str, shape: dict[str, Any]) -> None:
    answer = revision(api, rvprop=rvprop, rvslots="")
    assert answer == (shape or [])


def test_what_a_rule_hides_is_marked(make_api: Any) -> None:
    api = make_api(rules=(HIDDEN,))
    assert list(revision(api, rvslots="main").items()) == [
        ("revid", 4098),
        ("parentid", 4097),
        ("minor", True),
        ("userhidden", True),
        ("timestamp", "2026-03-02T05:06:07Z"),
        ("size", 3),
        ("sha1hidden", True),
        ("roles", ["main"]),
        ("slots", {"main": {"size": 3, "sha1hidden": True, "contentmodel": "wikitext", "texthidden": True}}),
        ("commenthidden", True),
        ("tags", []),
    ]
    assert "userhidden" not in revision(api, 4097, rvslots="main")


def test_an_administrator_sees_it_all_the_same(make_api: Any) -> None:
    answer = revision(make_api(rules=(HIDDEN,)).log_in(), rvslots="main")
    assert (answer["userhidden"], answer["user"], answer["slots"]["main"]["content"]) == (True, "192.0.2.9", "two")


@pytest.mark.parametrize(
    ("rvprop", "suppressed"), [("ids", False), ("user", True), ("comment", True), ("content", True), ("size", False)]
)
def test_suppression_is_told_where_it_shows(make_api: Any, rvprop: str, suppressed: bool) -> None:
    parts = ["text", "user", "comment"]
    rule = {"name": "hide", "when": {"revision": 4098}, "do": {"hidden": {"parts": parts, "suppressed": True}}}
    assert ("suppressed" in revision(make_api(rules=(rule,)), rvprop=rvprop, rvslots="main")) == suppressed


@pytest.mark.parametrize(
    ("section", "expected"),
    [("0", "lead"), ("1", "== A ==\naa\n=== B ===\nbb"), ("2", "=== B ===\nbb"), ("3", "== C ==\ncc")],
)
def test_a_section_is_what_is_below_its_heading(api: Any, section: str, expected: str) -> None:
    answer = revision(api, 4097, rvprop="content", rvslots="main", rvsection=section)
    assert answer["slots"]["main"]["content"] == expected


@pytest.mark.parametrize("section", ["4", "T1", "-1", "x", "9" * 5000])
def test_a_section_that_there_is_not_is_told(api: Any, section: str) -> None:
    info = revision(api, 4097, rvprop="content", rvslots="main", rvsection=section)
    assert info == {"slots": {"main": {"nosuchsection": True}}}
    answer = api.get(action="query", prop="revisions", revids=4097, rvprop="content", rvsection=section)
    assert answer.error == ("nosuchsection", f"There is no section {section} in revision 4097.")


def test_code_has_its_own_format(api: Any) -> None:
    slot = revision(api, 6 * 4096 + 1, rvprop="content", rvslots="*")["slots"]["main"]
    assert (slot["contentmodel"], slot["contentformat"]) == ("javascript", "text/javascript")


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ('plain <b> & "q"', "plain &lt;b&gt; &amp; &quot;q&quot;"),
        ("see [[old harbour|there]]!", 'see <a href="/wiki/Old_harbour" title="Old harbour">there</a>!'),
        ("[[nope]]", f'<a href="/w/index.php?title=Nope&amp;action=edit&amp;redlink=1" {MISSING}>nope</a>'),
        ("[[<]] [[x", "[[&lt;]] [[x"),
        ("/* A b */ new section", f'<span class="autocomment">{SECTION}: </span> new section'),
    ],
)
def test_comments_become_html(api: Any, comment: str, expected: str) -> None:
    wiki = api.world.wikis.by_name("enwiki")
    assert comment_html(wiki, wiki.page_by_id(1), comment) == expected
