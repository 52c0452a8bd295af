"""`meta=siteinfo`, `meta=tokens` and `meta=userinfo`."""

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
