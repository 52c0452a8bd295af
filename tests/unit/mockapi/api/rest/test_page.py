import hashlib
from typing import Any

import pytest

from mockapi.plan import Plan, StatusAnswer, WikiState

FORMS = ["", "/bare", "/html", "/with_html"]
SOURCES, RENDERED = FORMS[:2], FORMS[2:]
MISSING = Plan(state=WikiState(missing=True))


def etag_of_source(source: str) -> str:
    return f'"{hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()}"'


def test_source_is_the_current_text(wiki: Any) -> None:
    answer = wiki.rest("page/Old_harbour")
    assert answer.names == [
        *("x-content-type-options", "content-type", "cache-control", "last-modified", "etag", "vary"),
        *("content-length", "x-request-id"),
    ]
    assert answer["etag"] == etag_of_source("4098a1")
    assert answer.body.decode() == (
        '{"id":1,"key":"Old_harbour","title":"Old harbour","latest":{"id":4098,"timestamp":"2026-03-04T05:06:07Z"},'
        '"content_model":"wikitext","license":{"url":"","title":""},"source":"two \'\'words\'\'"}'
    )


def test_bare_has_the_place_of_the_html_with_spaces_encoded(wiki: Any) -> None:
    place = "https://en.wikipedia.org/w/rest.php/v1/page/{}/html"
    assert wiki.rest("page/Old_harbour/bare").json["html_url"] == place.format("Old%20harbour")
    assert wiki.rest("page/Talk:%C3%84%2Fb%3F/bare").json["html_url"] == place.format("Talk%3A%C3%84%2Fb%3F")


def test_html_has_its_headers_in_the_order_of_pages(wiki: Any) -> None:
    answer = wiki.rest("page/Old_harbour/html", headers={"accept-language": "de"})
    assert answer.names == [
        *("x-content-type-options", "cache-control", "content-language", "content-type", "vary"),
        *("content-revision-id", "last-modified", "etag", "content-length", "x-request-id"),
    ]
    assert answer["content-revision-id"] == "4098"
    assert b"<i" in answer.body


def test_a_page_and_its_current_revision_are_one_render(wiki: Any) -> None:
    page, revision = wiki.rest("page/Old_harbour/html"), wiki.rest("revision/4098/html")
    assert (page.body, page["etag"], page["last-modified"]) == (
        revision.body,
        revision["etag"],
        revision["last-modified"],
    )


def test_with_html_ends_in_the_document(wiki: Any) -> None:
    answer = wiki.rest("page/Old_harbour/with_html")
    assert list(answer.json)[-2:] == ["license", "html"]
    assert answer.json["html"] == wiki.rest("page/Old_harbour/html").body.decode()
    assert answer["content-language"] is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("old_harbour", "Old_harbour"),
        ("Old%20harbour", "Old_harbour"),
        ("talk:%C3%84/b%3F".replace("/", "%2F"), "Talk%3A%C3%84%2Fb%3F"),
    ],
)
def test_another_spelling_is_301(wiki: Any, form: str, asked: str, written: str) -> None:
    answer = wiki.rest(f"page/{asked}{form}?a=b+c&flavor=edit&x[]=~")
    place = f"/w/rest.php/v1/page/{written}{form}?a=b+c&flavor=edit&x%5B0%5D=%7E"
    assert (answer.status, answer["location"], answer["content-length"]) == (301, place, None)
    assert answer["cache-control"] == ("max-age=60" if form in RENDERED else None)
    assert answer["etag"] is not None
    shown = place.replace("&", "&amp;")
    assert answer.body.decode() == f'<!doctype html><title>Redirect</title><a href="{shown}">{shown}</a>'


def test_the_spelling_of_a_page_that_is_not_there_counts_for_html_only(wiki: Any) -> None:
    for form in RENDERED:
        answer = wiki.rest(f"page/nope%20x{form}")
        assert (answer.status, answer["location"]) == (301, f"/w/rest.php/v1/page/Nope_x{form}")
        assert (answer["etag"], answer["last-modified"]) == (None, None)
    for form in SOURCES:
        answer = wiki.rest(f"page/nope%20x{form}")
        assert (answer.status, answer.json["errorKey"]) == (404, "rest-nonexistent-title")
        assert "(nope x)" in answer.json["messageTranslations"]["en"]


def test_the_module_stays_in_places(wiki: Any) -> None:
    assert wiki.ask("/w/rest.php/content/v1/page/redirect")["location"] == "/w/rest.php/content/v1/page/Redirect"


@pytest.mark.parametrize("form", RENDERED)
def test_html_of_a_redirect_is_307(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"page/Redirect{form}?a=1")
    assert (answer.status, answer["location"]) == (307, f"/w/rest.php/v1/page/Old_harbour{form}?a=1")
    assert answer["cache-control"] == "max-age=60"
    stays = wiki.rest(f"page/Redirect{form}?redirect=no")
    assert stays.status == 200
    if form == "/with_html":
        assert list(stays.json)[-2:] == ["html", "redirect_target"]
        assert stays.json["redirect_target"] == "/w/rest.php/v1/page/Old_harbour/with_html?redirect=no"


@pytest.mark.parametrize("form", SOURCES)
def test_source_of_a_redirect_names_its_target(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"page/Redirect{form}")
    assert answer.json["redirect_target"] == f"/w/rest.php/v1/page/Old_harbour{form}"
    compat = wiki.rest(f"page/Redirect{form}", headers={"x-restbase-compat": "true"})
    assert compat.json["items"][0]["redirect"] is True
    assert compat.json["items"][0]["tags"] == ["mw-new-redirect"]
    assert list(compat.json) == ["items", "redirect_target"]


@pytest.mark.parametrize("form", FORMS)
def test_a_redirect_to_itself_is_a_page(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"page/Loop{form}")
    assert answer.status == 200
    assert b"redirect_target" not in answer.body


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("title", ["Nope", "Gone", "MediaWiki:Nope"])
def test_what_is_not_there_is_404(wiki: Any, form: str, title: str) -> None:
    answer = wiki.rest(f"page/{title}{form}")
    assert answer.body.decode() == (
        '{"errorKey":"rest-nonexistent-title","messageTranslations":'
        f'{{"en":"The specified page ({title}) does not exist"}},"httpCode":404,"httpReason":"Not Found"}}'
    )


@pytest.mark.parametrize("title", ["::X::", "Special:BlankPage", "special:blankPage", "A%00b", "%C3%28", "%5B"])
def test_what_is_no_page_is_404_for_source_and_403_for_html(wiki: Any, title: str) -> None:
    for form in SOURCES:
        answer = wiki.rest(f"page/{title}{form}")
        assert (answer.status, answer.json["errorKey"]) == (404, "rest-invalid-title")
    for form in RENDERED:
        answer = wiki.rest(f"page/{title}{form}")
        assert (answer.status, answer.json["errorKey"]) == (403, "rest-permission-denied-title")


def test_media_is_read_as_file(wiki: Any) -> None:
    assert wiki.rest("page/Media:X/html")["location"] == "/w/rest.php/v1/page/File%3AX/html"


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_title_is_400(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"page/{form}")
    assert (answer.status, answer.json["failureCode"], answer.json["value"]) == (400, "missingparam", "")


@pytest.mark.parametrize("form", FORMS)
def test_redirect_is_no_or_nothing(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"page/Redirect{form}?redirect=yes")
    assert (answer.status, answer.json["name"], answer.json["failureData"]) == (400, "redirect", [])


def test_a_system_message_is_html_without_parsoid(wiki: Any) -> None:
    answer = wiki.rest("page/MediaWiki:Newpage-desc/html")
    assert answer.names == [
        *("x-content-type-options", "cache-control", "etag", "vary", "content-length", "content-type"),
        "x-request-id",
    ]
    assert answer["content-type"] == "text/html; charset=UTF-8"
    assert answer["etag"] == f'"message/{hashlib.sha1(answer.body, usedforsecurity=False).hexdigest()}/html"'
    assert answer.body.startswith(
        b'<!DOCTYPE html>\n<html><head><meta http-equiv="content-language" content="en"/></head><body>Start a new page'
    )
    page = wiki.rest("page/MediaWiki:Newpage-desc/with_html").json
    assert (page["id"], page["latest"], page["html"]) == (0, {"id": 0, "timestamp": None}, answer.body.decode())
    assert wiki.rest("page/MediaWiki:newpage-desc/html").status == 301
    for form in SOURCES:
        assert wiki.rest(f"page/MediaWiki:Newpage-desc{form}").status == 404
        assert wiki.rest(f"page/MediaWiki:Newpage-desc{form}", headers={"if-none-match": "*"}).status == 304


@pytest.mark.parametrize("form", FORMS)
def test_a_revision_that_is_not_there_yet_shows_the_one_before(wiki: Any, form: str) -> None:
    wiki.plan, wiki.plans = MISSING, {4097: Plan()}
    answer = wiki.rest(f"page/Old_harbour{form}")
    assert answer.status == 200
    if form != "/html":
        assert answer.json["latest"]["id"] == 4097
    wiki.plans = {}
    assert wiki.rest(f"page/Old_harbour{form}").status == 404


def test_hidden_text_of_the_current_revision_is_403_but_not_for_metadata(wiki: Any) -> None:
    wiki.plan = Plan(state=WikiState(hidden=frozenset({"text"})))
    assert [wiki.rest(f"page/Old_harbour{form}").status for form in FORMS] == [403, 200, 403, 403]
    assert "(4,098)" in wiki.rest("page/Old_harbour").json["messageTranslations"]["en"]
    assert "(4098)" in wiki.rest("page/Old_harbour/html").json["messageTranslations"]["en"]


@pytest.mark.parametrize(("form", "allowed"), [("", "HEAD, GET, PUT"), ("/html", "HEAD, GET")])
def test_other_methods_are_405(wiki: Any, form: str, allowed: str) -> None:
    answer = wiki.rest(f"page/Old_harbour{form}", method="DELETE")
    assert (answer.status, answer["allow"]) == (405, allowed)
    assert f"({allowed})" in answer.json["messageTranslations"]["en"]


def test_a_status_of_a_rule_is_said_of_the_page(wiki: Any) -> None:
    reply = wiki.endpoint("/w/rest.php/v1/page/Old_harbour/html").status_reply(StatusAnswer(code=404), "id")
    assert b"The specified page (Old_harbour) does not exist" in b"".join(reply.body.pieces())


def test_the_host_chooses_the_wiki(make_wiki: Any, german: Any) -> None:
    one, two = make_wiki(), make_wiki(german)
    elsewhere = {"host": "127.0.0.1:80"}
    assert one.rest("page/Old_harbour", headers=elsewhere).status == 200
    assert two.rest("page/Old_harbour").status == 200
    assert two.rest("page/Hafen", headers={"host": "DE.wikipedia.org:80"}).json["source"] == "zwei"
    for path, key in (("page/Old_harbour", "rest-nonexistent-title"), ("revision/4097", "rest-nonexistent-revision")):
        answer = two.rest(path, headers=elsewhere)
        assert (answer.status, answer.json["errorKey"]) == (404, key)


@pytest.mark.parametrize(
    ("path", "key", "page", "revision", "renders"),
    [
        ("page/old_harbour/html", "title:Old_harbour", "Old harbour", 4098, True),
        ("page/Old%20harbour/bare", "bare:title:Old_harbour", "Old harbour", 4098, False),
        ("page/Nope/html", "title:Nope", "Nope", None, False),
        ("page/::X::/html", "title:::X::", "::X::", None, False),
    ],
)
def test_rules_see_what_is_asked_for(
    wiki: Any,
    path: str,
    key: str,
    page: str,
    revision: int | None,
    renders: bool,
) -> None:
    endpoint = wiki.endpoint(f"/w/rest.php/v1/{path}")
    assert (endpoint.key, endpoint.renders) == (key, renders)
    target = endpoint.targets[0]
    assert (target.wiki, target.page, target.revision) == ("enwiki", page, revision)
