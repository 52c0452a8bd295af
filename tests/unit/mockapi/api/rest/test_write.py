from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.rest.preconditions import Validators, decide, http_date
from mockapi.server.request import Request

TOKEN = "+\\"
NEW = {"source": "text", "title": "new page/ä", "comment": "why", "token": TOKEN}
CHANGE = {"source": "three", "comment": "why", "token": TOKEN}
JSON = {"content-type": "application/json; charset=utf-8"}
AT = datetime(2026, 3, 4, 5, 6, 7, 250_000, tzinfo=UTC)
SAME, BEFORE, AFTER = (f"Wed, 04 Mar 2026 05:06:0{second} GMT" for second in (7, 6, 8))
THERE = Validators('"4098/x/view/html"', AT, exists=True)
NOTHING = Validators(None, None, exists=False)
TAGS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='"'))


def post(wiki: Any, body: object, **headers: str) -> Any:
    return wiki.rest("page", method="POST", headers={**JSON, **headers}, body=body)


def put(wiki: Any, title: str, body: object, **headers: str) -> Any:
    return wiki.rest(f"page/{title}", method="PUT", headers={**JSON, **headers}, body=body)


def login(wiki: Any, name: str = "Admin", password: str = "dockerpass") -> tuple[str, str]:
    """Cookie and token of a session."""
    [one] = wiki.world.wikis
    accounts = wiki.world.accounts(one)
    session = accounts.login(None, name, password)
    return f"other=1; enwiki_session={session.id}", accounts.token("csrf", session)


def test_a_new_page_is_201_and_there(wiki: Any) -> None:
    made = post(wiki, NEW)
    assert (made.status, made["content-length"]) == (201, None)
    assert made["location"] == "https://en.wikipedia.org/w/rest.php/v1/page/New_page%2F%C3%A4"
    assert made["cache-control"] == "private,no-cache,s-maxage=0"
    assert list(made.json) == ["id", "title", "key", "latest", "license", "content_model", "source"]
    assert (made.json["title"], made.json["key"], made.json["source"]) == ("New page/ä", "New_page/ä", "text")
    assert wiki.rest("page/New_page%2F%C3%A4").json["id"] == made.json["id"]
    revision = wiki.rest(f"revision/{made.json['latest']['id']}").json
    assert (revision["user"], revision["comment"]) == ({"id": None, "name": "192.0.2.1"}, "why")


def test_who_is_logged_in_writes_under_the_name(wiki: Any) -> None:
    cookie, token = login(wiki)
    made = post(wiki, {**NEW, "token": token}, cookie=cookie)
    assert made["cache-control"] == "private,must-revalidate,s-maxage=0"
    revision = wiki.rest(f"revision/{made.json['latest']['id']}", headers={"cookie": cookie})
    assert revision.json["user"]["name"] == "Admin"
    assert revision["cache-control"] == "private,must-revalidate,s-maxage=0"
    assert revision.names.count("cache-control") == 1


@pytest.mark.parametrize(
    ("token", "logged_in", "text"),
    [
        (None, False, "The <var>token</var> parameter is required unless using a CSRF-safe authentication method."),
        ("wrong", False, "CSRF error - no session."),
        (TOKEN, True, "The CSRF token provided is invalid."),
    ],
)
def test_a_token_that_does_not_fit_is_403(wiki: Any, token: str | None, logged_in: bool, text: str) -> None:
    headers = {"cookie": login(wiki)[0]} if logged_in else {}
    answer = post(wiki, {**NEW, "token": token}, **headers)
    assert (answer.status, answer.json["errorKey"]) == (403, "rest-badtoken")
    assert answer.json["messageTranslations"]["en"] == text
    assert wiki.rest("page/New_page%2F%C3%A4").status == 404


def test_a_change_names_the_revision_it_changes(wiki: Any) -> None:
    latest = wiki.rest("page/Old_harbour").json["latest"]
    changed = put(wiki, "old%20harbour", {**CHANGE, "latest": latest})
    assert (changed.status, changed["location"], changed.json["source"]) == (200, None, "three")
    assert changed["content-length"] == str(len(changed.body))
    again = put(wiki, "Old_harbour", {**CHANGE, "latest": changed.json["latest"]})
    assert again.json["latest"] == changed.json["latest"]
    assert again.json["latest"]["id"] == latest["id"] + 1
    html = wiki.rest("page/Old_harbour/html")
    assert html["content-revision-id"] == str(latest["id"] + 1)
    assert b"three" in html.body


def test_put_makes_a_page_too(wiki: Any) -> None:
    made = put(wiki, "fresh", CHANGE)
    assert (made.status, made["location"], made.json["key"]) == (201, None, "Fresh")


@pytest.mark.parametrize(
    ("title", "body", "status", "key"),
    [
        ("Old_harbour", CHANGE, 409, "rest-update-cannot-create-page"),
        ("Nope", {**CHANGE, "latest": {"id": 7}}, 404, "apierror-missingtitle"),
        ("Old_harbour", {**CHANGE, "latest": {"id": 4097}}, 409, "edit-conflict"),
        ("::X::", CHANGE, 400, "apierror-invalidtitle"),
        ("Special:X", CHANGE, 400, "apierror-pagecannotexist"),
        ("X", {**CHANGE, "latest": 7}, 400, "rest-body-validation-error"),
        ("X", {**CHANGE, "latest": {"id": "7"}}, 400, "rest-body-validation-error"),
        ("X", {**CHANGE, "latest": {}}, 400, "rest-body-validation-error"),
        ("X", {**CHANGE, "content_model": "bogus"}, 400, "rest-bad-content-model"),
        ("X", {**CHANGE, "title": "X"}, 400, "rest-extraneous-body-fields"),
        ("", CHANGE, 400, "missingparam"),
    ],
)
def test_a_change_that_cannot_be_is_refused(wiki: Any, title: str, body: object, status: int, key: str) -> None:
    answer = put(wiki, title, body)
    assert (answer.status, answer.json["errorKey"]) == (status, key)
    assert wiki.rest("page/Old_harbour").json["latest"]["id"] == 4098


@pytest.mark.parametrize(
    ("headers", "body", "status", "key"),
    [
        (JSON, b"", 411, "rest-request-body-expected"),
        (JSON, b"{", 400, "rest-json-body-parse-error"),
        (JSON, b"5", 400, "rest-json-body-parse-error"),
        (JSON, b"[]", 400, "rest-body-validation-error"),
        (JSON, {**NEW, "title": 5}, 400, "rest-body-validation-error"),
        (JSON, {**NEW, "source": None}, 400, "rest-body-validation-error"),
        (JSON, {**NEW, "extra": 1}, 400, "rest-extraneous-body-fields"),
        (JSON, {**NEW, "title": "Old harbour"}, 409, "apierror-articleexists"),
        (JSON, {**NEW, "title": "User:X/y.json"}, 400, "invalid-json-data"),
        ({}, b"x=1", 415, "rest-unsupported-content-type"),
        ({"content-type": "text/plain"}, b"x", 415, "rest-unsupported-content-type"),
    ],
)
def test_what_cannot_be_made_is_refused(
    wiki: Any, headers: dict[str, str], body: object, status: int, key: str
) -> None:
    answer = wiki.rest("page", method="POST", headers=headers, body=body)
    assert (answer.status, answer.json["errorKey"]) == (status, key)


def test_a_condition_is_decided_before_the_write(wiki: Any) -> None:
    assert put(wiki, "Fresh", CHANGE, **{"if-match": '"x"'}).status == 412
    assert wiki.rest("page/Fresh").status == 404


def test_page_without_a_title_takes_posts_only(wiki: Any) -> None:
    answer = wiki.rest("page")
    assert (answer.status, answer["allow"]) == (405, "POST")
    assert "was not the allowed method for this path (POST)" in answer.json["messageTranslations"]["en"]
    assert wiki.rest("page", method="OPTIONS")["access-control-allow-methods"] == "POST"


def decided(validators: Validators, *, method: str = "GET", **headers: str) -> int | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return decide(Request(method, "/", "/", "", named, ""), validators)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"if_none_match": '"4098/x/view/html"'}, 304),
        ({"if_none_match": 'W/"4098/x/view/html"'}, 304),
        ({"if_none_match": '"a", "4098/x/view/html"'}, 304),
        ({"if_none_match": "*"}, 304),
        ({"if_none_match": '"a"'}, None),
        ({"if_none_match": '"4098/x/view/html", broken'}, None),
        ({"if_none_match": '"4098/x/view/html",'}, None),
        ({"if_none_match": ""}, None),
        ({"if_modified_since": SAME}, 304),
        ({"if_modified_since": BEFORE}, None),
        ({"if_modified_since": "2037-01-01"}, None),
        ({"if_modified_since": AFTER, "if_none_match": '"a"'}, None),
        ({"if_match": '"4098/x/view/html"'}, None),
        ({"if_match": 'W/"4098/x/view/html"'}, None),
        ({"if_match": "*"}, None),
        ({"if_match": '"a"'}, 412),
        ({"if_match": ""}, 412),
        ({"if_unmodified_since": SAME}, None),
        ({"if_unmodified_since": BEFORE}, 412),
        ({"if_unmodified_since": "yesterday"}, None),
        ({"if_match": "*", "if_unmodified_since": BEFORE}, None),
        ({"if_match": "*", "if_none_match": "*"}, 304),
    ],
)
def test_of_what_is_there(headers: dict[str, str], status: int | None) -> None:
    assert decided(THERE, **headers) == status


@pytest.mark.parametrize(
    ("validators", "method", "headers", "status"),
    [
        (NOTHING, "GET", {"if_match": "*"}, 412),
        (NOTHING, "GET", {"if_none_match": "*"}, None),
        (NOTHING, "GET", {"if_unmodified_since": BEFORE}, 412),
        (NOTHING, "GET", {"if_modified_since": AFTER}, None),
        (THERE, "PUT", {"if_none_match": "*"}, 412),
        (THERE, "PUT", {"if_modified_since": AFTER}, None),
    ],
)
def test_of_what_is_not_there_and_of_a_write(
    validators: Validators, method: str, headers: dict[str, str], status: int | None
) -> None:
    assert decided(validators, method=method, **headers) == status


FORMS = ["Wed, 04 Mar 2026 05:06:07 GMT", "Wednesday, 04-Mar-26 05:06:07 GMT", "Wed Mar  4 05:06:07 2026"]
NO_DATES = ["", "Wed, 4 Mar 2026 05:06:07 GMT", "Wed, 04 Mar 2026 05:06:07 +0000", "Wed, 99 Mar 2026 05:06:07 GMT"]


@pytest.mark.parametrize(
    ("text", "at"), [*((text, AT.replace(microsecond=0)) for text in FORMS), *((text, None) for text in NO_DATES)]
)
def test_a_date_has_three_forms(text: str, at: datetime | None) -> None:
    assert http_date(text) == at


@given(st.lists(TAGS, min_size=1, max_size=5), st.booleans())
def test_a_tag_is_found_wherever_it_stands(tags: list[str], weak: bool) -> None:
    header = ", ".join(f'{"W/" if weak else ""}"{tag}"' for tag in tags)
    for tag in tags:
        assert decided(Validators(f'"{tag}"', None, exists=True), if_none_match=header) == 304


@given(st.text())
def test_any_header_is_decided(text: str) -> None:
    for name in ("if_match", "if_none_match", "if_modified_since", "if_unmodified_since"):
        assert decided(THERE, **{name: text}) in {None, 304, 412}


@given(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)), st.integers(-1, 1))
def test_a_date_is_compared_by_the_second(at: datetime, seconds: int) -> None:
    stored = Validators('"a"', at.replace(tzinfo=UTC), exists=True)
    asked = at.replace(microsecond=0) + timedelta(seconds=seconds)
    header = f"{asked:%a, %d %b %Y %H:%M:%S} GMT"
    assert decided(stored, if_modified_since=header) == (304 if seconds >= 0 else None)
    assert decided(stored, if_unmodified_since=header) == (None if seconds >= 0 else 412)


def test_a_bad_parameter_is_refused_before_a_condition_is_decided(wiki: Any) -> None:
    assert wiki.rest("page/Old_harbour/html?flavor=x", headers={"if-none-match": "*"}).status == 400


def test_a_client_that_sends_back_the_tag_is_spared_the_body(wiki: Any) -> None:
    for path in ("page/Old_harbour", "page/Old_harbour/with_html", "revision/4097/html", "page/MediaWiki:Edit/html"):
        tag = wiki.rest(path)["etag"]
        assert wiki.rest(path, headers={"if-none-match": tag}).status == 304
        assert wiki.rest(path, headers={"if-match": tag}).status == 200
