"""Queries and page sets, and that an answer which is kept does not outlive what it says."""

from typing import Any

import pytest

from mockapi.rules.model import Rule

QUERY = {"titles": "Old harbour", "prop": "info|revisions", "rvprop": "ids|content|user", "rvslots": "main"}
EMPTY = "The requested page title is empty or contains only a namespace prefix."
COLON = "The requested page title contains an invalid colon at the beginning."


@pytest.mark.parametrize("group", ["prop", "list", "meta"])
def test_a_module_that_there_is_not_is_a_warning(api: Any, group: str) -> None:
    answer = api.get(action="query", **{group: "bogus"}).json
    assert answer["warnings"] == {"query": {"warnings": f'Unrecognized value for parameter "{group}": bogus'}}


def test_modules_tell_in_the_order_in_which_they_are_named(api: Any) -> None:
    answer = api.query(prop="revisions|info", meta="userinfo|siteinfo", titles="Old harbour", rvprop="ids")
    assert list(answer) == ["pages", "userinfo", "general"]
    assert list(answer["pages"][0])[3:5] == ["revisions", "contentmodel"]


def test_numbers_of_the_nodes_are_told_when_asked_for(api: Any) -> None:
    assert api.query(titles="Old harbour|Nope", indexpageids=1)["pageids"] == ["-1", "1"]


def walk(api: Any, **parameters: Any) -> list[Any]:
    """All answers, each asked for as the one before says."""
    answers, more = [], {"continue": ""}
    while more:
        answers.append(api.get(action="query", **parameters, **more).json)
        more = answers[-1].get("continue", {})
        assert len(answers) < 20
    return answers


def test_a_client_that_goes_on_gets_all_once(api: Any) -> None:
    answers = walk(api, prop="revisions|info", meta="userinfo", titles="Old harbour", rvlimit=1, rvprop="ids")
    assert [answer["query"]["pages"][0]["revisions"][0]["revid"] for answer in answers] == [4099, 4098, 4097]
    assert ["contentmodel" in answer["query"]["pages"][0] for answer in answers] == [True, False, False]
    assert ["userinfo" in answer["query"] for answer in answers] == [True, False, False]
    assert ["batchcomplete" in answer for answer in answers] == [False, False, True]
    assert answers[0]["continue"] == {"rvcontinue": "20260302050607|4098", "continue": "||info|userinfo"}


def test_modules_about_pages_are_over_after_a_dash(api: Any) -> None:
    answer = api.get(action="query", prop="info", meta="userinfo", titles="Old harbour", **{"continue": "-||"}).json
    assert list(answer["query"]) == ["userinfo"]


def test_the_older_way_to_go_on(api: Any) -> None:
    answer = api.get(action="query", prop="revisions", titles="Old harbour", rvlimit=1, rawcontinue=1).json
    assert answer["query-continue"] == {"revisions": {"rvcontinue": "20260302050607|4098"}}
    assert "batchcomplete" not in answer


def test_what_does_not_fit_is_left_for_the_next_answer(make_api: Any, make_page: Any) -> None:
    big = "x" * 1_900_000
    api = make_api(make_page(50, "Big", *[big] * 6))
    answers = walk(
        api, prop="revisions", revids="|".join(str(50 * 4096 + n) for n in range(1, 7)), rvprop="content|ids"
    )
    revisions = [[one["revid"] % 4096 for one in answer["query"]["pages"][0]["revisions"]] for answer in answers]
    assert revisions == [[1, 2, 3, 4], [5, 6]]
    assert answers[0]["continue"]["rvcontinue"] == 50 * 4096 + 5
    assert "larger than the limit of 8,388,608 bytes" in answers[0]["warnings"]["result"]["warnings"]


def test_pages_that_do_not_fit_have_no_revisions_yet(make_api: Any, make_page: Any) -> None:
    api = make_api(*(make_page(number, f"Big {number}", "x" * 1_900_000) for number in range(50, 56)))
    titles = "|".join(f"Big {number}" for number in range(50, 56))
    answers = walk(api, prop="revisions", titles=titles, rvprop="content", rvslots="main")
    counts = [[len(page.get("revisions", "none")) for page in answer["query"]["pages"]] for answer in answers]
    assert counts == [[1, 1, 1, 1, 0, 4], [4, 4, 4, 4, 1, 1]]


def asked_twice(api: Any) -> Any:
    first, second = (api.get(action="query", **QUERY) for _ in range(2))
    assert first.body == second.body
    return first.json["query"]["pages"][0]


def test_an_edit_a_move_and_a_deletion_are_seen(api: Any) -> None:
    admin = api.another().log_in()
    before = asked_twice(api)
    admin.write("edit", title="Old harbour", text="new")
    edited = asked_twice(api)
    assert edited["lastrevid"] == before["lastrevid"] + 1
    assert edited["revisions"][0]["slots"]["main"]["content"] == "new"
    admin.write("move", **{"from": "Old harbour", "to": "New harbour"})
    assert asked_twice(api)["pageid"] != before["pageid"]
    admin.write("delete", title="Old harbour")
    assert asked_twice(api)["missing"] is True


def test_a_rule_acts_and_ends(api: Any) -> None:
    before = asked_twice(api)
    hide = {"name": "hide", "when": {}, "do": {"hidden": {"parts": ["text", "user"]}}}
    api.world.rulebook.put(Rule.model_validate(hide))
    hidden = asked_twice(api)["revisions"][0]
    assert (hidden["userhidden"], hidden["slots"]["main"]["texthidden"]) == (True, True)
    api.world.rulebook.remove("hide")
    assert asked_twice(api) == before


def test_each_answer_has_the_id_of_its_request(api: Any) -> None:
    answers = [api.ask("action=query&format=json&titles=Old+harbour", x_request_id=name) for name in ("a", "b")]
    assert [answer["x-request-id"] for answer in answers] == ["a", "b"]
    assert answers[0].body == answers[1].body
    assert answers[0].names == answers[1].names


def test_who_sees_more_gets_more(api: Any) -> None:
    admin = api.another().log_in()
    admin.write("revisiondelete", type="revision", target="4098", ids="4098", hide="user")
    query = {"action": "query", "revids": 4098, "prop": "revisions", "rvprop": "ids|user"}
    for client, shown in ((api, False), (admin, True), (api, False), (admin, True)):
        revision = client.get(**query).json["query"]["pages"][0]["revisions"][0]
        assert ("user" in revision) is shown


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
