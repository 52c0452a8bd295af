"""`meta=siteinfo`, `meta=tokens`, `meta=userinfo`, `prop=info` and `prop=pageprops`."""

import re
from typing import Any

import pytest

TOKEN = re.compile(r"[0-9a-f]{40}\+\\")


def test_the_time_is_that_of_the_world(api: Any) -> None:
    assert api.query(meta="siteinfo")["general"]["time"] == "2026-06-01T12:00:00Z"


def test_statistics_count_what_readers_see(admin: Any) -> None:
    before = admin.query(meta="siteinfo", siprop="statistics")["statistics"]
    admin.write("edit", title="A", text="x")
    after = admin.query(meta="siteinfo", siprop="statistics")["statistics"]
    assert (before["users"], before["admins"]) == (1, 1)
    assert (after["pages"], after["edits"]) == (before["pages"] + 1, before["edits"] + 1)


@pytest.mark.parametrize(
    "prop", ["rightsinfo", "restrictions", "usergroups", "dbrepllag", "interwikimap", "extensions"]
)
def test_each_property_is_a_member(api: Any, prop: str) -> None:
    assert list(api.query(meta="siteinfo", siprop=prop)) == [prop]


def test_a_wiki_is_chosen_by_host(make_api: Any, make_page: Any) -> None:
    api = make_api(make_page(1, "Hafen", "x", wiki="dewiki"))
    answer = api.ask("action=query&meta=siteinfo&format=json", host="de.wikipedia.org:8080").json
    assert answer["query"]["general"]["wikiid"] == "dewiki"


def test_a_visitor_needs_no_secret_but_to_log_in(api: Any) -> None:
    answer = api.query(meta="tokens", type="*")["tokens"]
    kinds = ("createaccount", "csrf", "login", "patrol", "rollback", "userrights", "watch")
    assert list(answer) == [f"{kind}token" for kind in kinds]
    secret = {name for name, token in answer.items() if TOKEN.fullmatch(token)}
    assert secret == {"createaccounttoken", "logintoken"}
    assert {answer[name] for name in answer.keys() - secret} == {"+\\"}


@pytest.mark.parametrize(("kind", "begun"), [("csrf", False), ("login", True), ("createaccount", True)])
def test_tokens_to_log_in_begin_a_session(api: Any, kind: str, begun: bool) -> None:
    answer = api.get(action="query", meta="tokens", type=kind)
    assert ("set-cookie" in answer.names) == begun
    assert api.token(kind) == api.token(kind)


def test_tokens_come_in_the_order_in_which_they_are_asked_for(admin: Any) -> None:
    answer = admin.query(meta="tokens", type="watch|csrf|bogus")["tokens"]
    assert list(answer) == ["watchtoken", "csrftoken"]
    assert all(TOKEN.fullmatch(token) for token in answer.values())
    assert admin.query(meta="tokens", type="")["tokens"] == {}


def test_an_untrusted_client_gets_no_token(api: Any) -> None:
    answer = api.get(action="query", meta="tokens", origin="*").json
    text = "Tokens may not be obtained when the same-origin policy is not applied."
    assert answer["warnings"] == {"tokens": {"warnings": text}}
    assert "query" not in answer


def test_a_user_has_groups_and_rights(admin: Any) -> None:
    props = "groups|implicitgroups|groupmemberships|rights|changeablegroups|hasmsg"
    user = admin.query(meta="userinfo", uiprop=props)["userinfo"]
    assert (user["id"], user["name"], user["messages"]) == (1, "Admin", False)
    assert user["groups"] == ["bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed"]
    assert {"delete", "apihighlimits", "suppressrevision"} <= set(user["rights"])
    assert "sysop" in user["changeablegroups"]["add"]


def test_all_of_a_user_can_be_asked_for_at_once(api: Any) -> None:
    answer = api.query(meta="userinfo", uiprop="*")["userinfo"]
    assert (answer["ratelimits"], answer["centralids"]) == ({}, {"local": 0})
    assert answer["changeablegroups"] == {"add": [], "remove": [], "add-self": [], "remove-self": []}


def info(api: Any, title: str, **parameters: Any) -> Any:
    (page,) = api.query(prop="info", titles=title, **parameters)["pages"]
    return page


ASKED_FOR = {
    "protection": [],
    "restrictiontypes": ["edit", "move"],
    "talkid": 4,
    "associatedpage": "Talk:Old harbour",
    "fullurl": "https://en.wikipedia.org/wiki/Old_harbour",
    "editurl": "https://en.wikipedia.org/w/index.php?title=Old_harbour&action=edit",
    "canonicalurl": "https://en.wikipedia.org/wiki/Old_harbour",
    "displaytitle": "Old harbour",
    "varianttitles": {"en": "Old harbour"},
}
INFO: list[tuple[str, dict[str, str], dict[str, Any], set[str]]] = [
    # title, more parameters, members of the answer, members that are not there
    ("Nope", {}, {"missing": True, "contentmodel": "wikitext"}, {"touched"}),
    ("User:X/a.js", {}, {"missing": True, "contentmodel": "javascript"}, {"touched"}),
    ("MediaWiki:A.css", {}, {"missing": True, "contentmodel": "css"}, {"touched"}),
    ("Special:BlankPage", {}, {"ns": -1, "title": "Special:BlankPage", "special": True}, {"contentmodel", "touched"}),
    ("Old harbour", {"inprop": "protection|talkid|associatedpage|url|displaytitle|varianttitles"}, ASKED_FOR, set()),
    (
        "Talk:Old harbour",
        {"inprop": "subjectid|talkid|associatedpage"},
        {"subjectid": 1, "associatedpage": "Old harbour"},
        {"talkid"},
    ),
    ("Nope", {"inprop": "protection"}, {"restrictiontypes": ["create"]}, set()),
    ("File:X.png", {"inprop": "protection"}, {"restrictiontypes": ["create"]}, set()),
    ("Old harbour", {"intestactions": "edit|delete"}, {"actions": {"edit": True, "delete": False}}, set()),
    (
        "User:Ä/b (c)?&d",
        {"inprop": "url"},
        {"fullurl": "https://en.wikipedia.org/wiki/User:%C3%84/b_(c)%3F%26d"},
        set(),
    ),
]


@pytest.mark.parametrize(
    ("title", "parameters", "members", "absent"), INFO, ids=[f"{title} {more}" for title, more, _, _ in INFO]
)
def test_the_info_of_a_page(
    api: Any, title: str, parameters: dict[str, str], members: dict[str, Any], absent: set[str]
) -> None:
    page = info(api, title, **parameters)
    assert {name: page.get(name) for name in members} == members
    assert not absent & page.keys()


def test_what_is_asked_for_comes_in_the_order_of_mediawiki(api: Any) -> None:
    assert list(info(api, "Old harbour", inprop="|".join([*ASKED_FOR, "url"])))[10:] == list(ASKED_FOR)


def test_going_on_begins_at_the_title_given(api: Any) -> None:
    pages = api.query(prop="info", titles="Generated|Old harbour|Talk:Old harbour", incontinue="0|Old_harbour")["pages"]
    assert [page["title"] for page in pages if "touched" in page] == ["Old harbour", "Talk:Old harbour"]


@pytest.mark.parametrize(("asked", "private"), [({}, False), ({"inprop": "url"}, False), ({"inprop": "watched"}, True)])
def test_what_depends_on_who_asks_is_private(api: Any, asked: dict[str, str], private: bool) -> None:
    answer = api.get(action="query", prop="info", titles="Old harbour", smaxage=9, **asked)
    assert ("private" in answer["cache-control"]) == private


def props(api: Any, **parameters: Any) -> dict[str, Any]:
    pages = api.query(prop="pageprops", **parameters)["pages"]
    return {page["title"]: page["pageprops"] for page in pages if "pageprops" in page}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", []),
        (None, []),
        ("__NOINDEX__ __NOTOC__", ["noindex", "notoc"]),
        ("__notoc__ __noindex__ __BOGUS__", ["notoc"]),
        ("<nowiki>__NOTOC__</nowiki><!-- __TOC__ --><pre>__NOINDEX__</pre>", []),
        ("#REDIRECT [[X]] __STATICREDIRECT__", ["staticredirect"]),
    ],
)
def test_a_page_has_the_switches_of_its_source(
    make_api: Any, make_page: Any, text: str | None, expected: list[str]
) -> None:
    api = make_api(make_page(20, "Page", text))
    assert props(api, titles="Page|Nope") == ({"Page": dict.fromkeys(expected, "")} if expected else {})


def test_code_has_no_switches(make_api: Any, make_page: Any) -> None:
    page = make_page(20, "MediaWiki:A.css", "__NOTOC__", namespace_id=8, content_model="css")
    assert props(make_api(page), titles="MediaWiki:A.css") == {}


def test_a_client_may_ask_for_some_and_go_on(make_api: Any, make_page: Any) -> None:
    api = make_api(*(make_page(20 + n, f"Page {n}", "__NOTOC__ __TOC__") for n in range(3)))
    titles = "Page 0|Page 1|Page 2"
    assert props(api, titles=titles, ppprop="toc|x") == {f"Page {n}": {"toc": ""} for n in range(3)}
    assert list(props(api, titles=titles, ppcontinue="21")) == ["Page 1", "Page 2"]
