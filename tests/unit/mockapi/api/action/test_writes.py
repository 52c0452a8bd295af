"""Edits, moves, deletions and hidden revisions. What is refused is in test_errors.py."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest

PATH = "/w/index.php"
TITLE = "Old harbour"
HIDDEN = ("text", "user", "comment")


def text_of(api: Any, title: str) -> str:
    (page,) = api.query(prop="revisions", titles=title, rvprop="content", rvslots="main")["pages"]
    text: str = page["revisions"][0]["slots"]["main"]["content"]
    return text


def test_a_write_pins_the_client_to_where_it_was_written(admin: Any) -> None:
    answer = admin.post(action="edit", title="A", text="x", token=admin.token())
    assert answer["set-cookie"] == ("UseDC=master; expires=Mon, 01 Jun 2026 12:00:10 GMT; Max-Age=10; path=/; HttpOnly")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"title": "Old harbour", "appendtext": " more"}, "three more"),
        ({"title": "Old harbour", "prependtext": "pre "}, "pre three"),
        ({"title": "Old harbour", "section": "new", "sectiontitle": "S", "text": "x"}, "three\n\n== S ==\n\nx"),
        ({"pageid": 1, "text": "by id"}, "by id"),
    ],
)
def test_text_can_be_added(admin: Any, parameters: dict[str, Any], expected: str) -> None:
    admin.write("edit", **parameters)
    assert text_of(admin, "Old harbour") == expected


@pytest.mark.parametrize(
    ("source", "parameters", "expected"),
    [
        ("lead\n== A ==\naa\n== C ==\ncc", {"section": "0", "text": "new"}, "new\n\n== A ==\naa\n== C ==\ncc"),
        ("lead\n== A ==\naa\n== C ==\ncc", {"section": "1", "text": "new"}, "lead\nnew\n\n== C ==\ncc"),
        ("lead\n== A ==\naa\n== C ==\ncc", {"section": "2", "text": "new"}, "lead\n== A ==\naa\nnew"),
        ("lead\n\n== A ==\na\n\n== C ==", {"section": "1", "appendtext": "x"}, "lead\n\n== A ==\nax\n\n== C =="),
        ("lead\n\n== A ==\na\n\n== C ==", {"section": "1", "prependtext": "x"}, "lead\n\nx== A ==\na\n\n== C =="),
    ],
)
def test_a_section_can_be_changed(
    make_api: Any, make_page: Any, source: str, parameters: dict[str, str], expected: str
) -> None:
    api = make_api(make_page(50, "Sections", source))
    api.write("edit", title="Sections", **parameters)
    assert text_of(api, "Sections") == expected


def test_a_redirect_can_be_followed(admin: Any) -> None:
    answer = admin.write("edit", title="To harbour", redirect=1, appendtext="!")
    assert (answer["redirects"], answer["title"]) == ([{"from": "To harbour", "to": "Old harbour"}], "Old harbour")


def test_a_right_checksum_is_no_hindrance(admin: Any) -> None:
    assert admin.write("edit", title="A", text="x", md5="9dd4e461268c8034f5c8564e155c67a6")["result"] == "Success"


def test_visitors_may_write_and_get_a_session(api: Any) -> None:
    answer = api.write("edit", title="A", text="x", minor=1)
    assert answer["result"] == "Success"
    assert "enwiki_session" in api.cookies
    (page,) = api.query(prop="revisions", titles="A", rvprop="user|userid|flags")["pages"]
    assert page["revisions"] == [{"minor": False, "user": "192.0.2.1", "anon": True, "userid": 0}]


@pytest.mark.parametrize("title", ["MediaWiki:Sidebar", "User:Ada/common.js", "User:Ada/common.css", "User:Ada/x.json"])
def test_an_administrator_may_write_everything(admin: Any, title: str) -> None:
    assert admin.write("edit", title=title, text="{}")["result"] == "Success"


def test_what_is_written_is_there_for_everybody(admin: Any) -> None:
    answer = admin.write("edit", title="A", text="''x''")
    rest = admin.another().ask("", path=f"/w/rest.php/v1/revision/{answer['newrevid']}")
    assert rest.json["source"] == "''x''"


def test_a_talk_page_can_come_along(admin: Any) -> None:
    answer = admin.write("move", fromid=1, to="New harbour", movetalk=1, noredirect=1)
    assert answer["redirectcreated"] is False
    assert (answer["talkfrom"], answer["talkto"]) == ("Talk:Old harbour", "Talk:New harbour")


def test_a_deletion_says_what_was_there_and_undeletion_brings_all_back(admin: Any) -> None:
    assert "three" in admin.write("delete", pageid=1)["reason"]
    answer = admin.write("undelete", title="Old harbour", reason="back")
    assert answer == {"title": "Old harbour", "revisions": 3, "fileversions": 0, "reason": "back"}
    assert admin.query(revids="4099")["pages"][0]["title"] == "Old harbour"


def hide(admin: Any, ids: str, **parameters: str) -> Any:
    return admin.write("revisiondelete", type="revision", ids=ids, **parameters)["items"]


def test_parts_can_be_hidden_and_shown_again(admin: Any) -> None:
    hide(admin, "4098", hide="comment|user")
    (item,) = hide(admin, "4098", hide="comment")
    assert item["warnings"][0]["code"] == "revdelete-no-change"
    hide(admin, "4098", show="comment")
    (page,) = admin.another().query(prop="revisions", revids=4098, rvprop="user|comment")["pages"]
    (revision,) = page["revisions"]
    assert ("comment" in revision, "userhidden" in revision) == (True, True)


def test_what_is_refused_is_refused_for_its_revision_alone(admin: Any) -> None:
    items = hide(admin, "4099|99|4098", hide="content")
    assert [item["status"] for item in items] == ["Success", "Fail", "Success"]
    code = "revdelete-hide-current"
    assert items[0]["errors"] == [{"message": code, "params": ["3 March 2026", "05:06"], "code": code, "type": "error"}]
    assert (items[1]["errors"][0]["code"], items[1]["errors"][0]["params"]) == ("revdelete-modify-missing", [99])
    assert "errors" not in items[2]


WRITES: tuple[tuple[dict[str, str], list[str]], ...] = (
    ({"action": "edit", "title": "Old harbour", "appendtext": "more"}, ["edit"]),
    ({"action": "edit", "title": "New quay", "text": "new"}, ["create"]),
    ({"action": "move", "from": "Old harbour", "to": "Old pier"}, ["move", "create"]),
    ({"action": "delete", "title": "Old harbour"}, ["delete"]),
    ({"action": "undelete", "title": "Gone"}, ["undelete"]),
    ({"action": "revisiondelete", "type": "revision", "ids": "4099", "hide": "user"}, ["visibility"]),
    ({"action": "wbsetlabel", "id": "Q1", "language": "en", "value": "quay"}, ["edit"]),
)


def request_ids(api: Any) -> list[tuple[str, str]]:
    """Kind and request of each change."""
    return [(entry.change.kind, entry.change.request_id) for entry in api.worlds.feed.page(0, 100).entries]


@pytest.mark.parametrize(("parameters", "kinds"), WRITES, ids=[f"{one['action']}: {kinds}" for one, kinds in WRITES])
def test_each_change_has_the_id_of_the_request_that_made_it(
    make_api: Any, make_page: Any, parameters: dict[str, str], kinds: list[str]
) -> None:
    api = make_api(make_page(8, "Q1", "{}", content_model="wikibase-item")).log_in()
    body = "&".join(f"{name}={value}" for name, value in parameters.items())
    token = api.token().replace("+", "%2B").replace("\\", "%5C")
    api.ask("format=json", method="POST", body=f"{body}&token={token}".encode(), x_request_id="f00d")
    assert request_ids(api) == [(kind, "f00d") for kind in kinds]


def test_without_one_it_is_that_of_the_answer(admin: Any) -> None:
    answer = admin.post(action="edit", title="Old harbour", text="new", token=admin.token())
    assert request_ids(admin) == [("edit", answer["x-request-id"])]


def test_a_change_over_the_rest_api_has_the_id_of_its_request(api: Any) -> None:
    body = json.dumps({"source": "new", "comment": "", "title": "New quay", "token": "+\\"}).encode()
    sent = {"method": "POST", "body": body, "content_type": "application/json", "x_request_id": "f00d"}
    api.ask("", path="/w/rest.php/v1/page", **sent)
    assert request_ids(api) == [("create", "f00d")]


def get(api: Any, title: str = TITLE) -> Any:
    return api.ask(urlencode({"title": title, "action": "delete"}), path=PATH)


def post(api: Any, title: str = TITLE, **fields: str) -> Any:
    body = urlencode({"title": title, "action": "delete", **fields})
    return api.ask("", path=PATH, method="POST", body=body.encode(), x_request_id="f00d")


def token_of(answer: Any) -> str:
    match = re.search(r'name="wpEditToken" value="([^"]+)"', answer.text)
    assert match
    return match[1]


def heading(answer: Any) -> str:
    match = re.search("<h1>(.*)</h1>", answer.text)
    assert match
    return match[1]


def changes(api: Any) -> list[Any]:
    return [entry.change for entry in api.worlds.feed.page(0, 100).entries]


@pytest.mark.parametrize(("fields", "hidden", "has_before"), [({"wpSuppress": "1"}, HIDDEN, True), ({}, (), False)])
def test_a_page_is_deleted_and_suppressed_where_it_is_asked_for(
    admin: Any, fields: dict[str, str], hidden: tuple[str, ...], has_before: bool
) -> None:
    form = get(admin)
    assert heading(form) == "Delete &quot;Old harbour&quot;"
    assert 'name="wpSuppress"' in form.text
    answer = post(admin, wpEditToken=token_of(form), wpReason="bye", **fields)
    assert (answer.status, heading(answer)) == (200, "Action complete")
    (change,) = changes(admin)
    assert (change.kind, change.reason, change.request_id) == ("delete", "bye", "f00d")
    assert (change.revision.hidden, change.revision.suppressed) == (hidden, bool(hidden))
    assert (change.before is not None) == has_before
    assert admin.query(titles=TITLE)["pages"][0]["missing"] is True


def test_a_suppressed_page_stays_deleted(admin: Any) -> None:
    post(admin, wpEditToken=token_of(get(admin)), wpSuppress="1")
    code, info = admin.post(action="undelete", title=TITLE, token=admin.token()).error
    assert (code, info.startswith("Undeletion will not be performed")) == ("undeleterevdel", True)


def test_a_token_is_for_one_page_and_not_the_api_s(admin: Any) -> None:
    for token in (token_of(get(admin, "To harbour")), admin.token(), ""):
        assert heading(post(admin, wpEditToken=token)) == "Delete &quot;Old harbour&quot;"
    assert changes(admin) == []


@pytest.mark.parametrize(
    ("title", "status", "shown"),
    [
        ("Nope", 200, "Cannot delete page &quot;Nope&quot;"),
        ("Gone", 200, "Cannot delete page &quot;Gone&quot;"),
        ("a|b", 400, "Bad title"),
    ],
)
def test_a_page_that_is_not_there_cannot_be_deleted(admin: Any, title: str, status: int, shown: str) -> None:
    for answer in (get(admin, title), post(admin, title)):
        assert (answer.status, heading(answer)) == (status, shown)


def test_it_takes_an_administrator(api: Any) -> None:
    for answer in (get(api), post(api, wpEditToken="+\\")):
        assert heading(answer) == "Permission error"
    assert changes(api) == []


def test_rules_for_the_page_apply(make_api: Any) -> None:
    api = make_api(rules=({"name": "down", "when": {"page": TITLE}, "do": {"status": 503}},))
    assert get(api).status == 503
