"""The form by which people delete a page: the only way to suppress a whole one."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

PATH = "/w/index.php"
TITLE = "Old harbour"
HIDDEN = ("text", "user", "comment")


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
