"""Pages over the REST API, beyond the requests of tests/conformance/requests."""

from typing import Any

import pytest

from mockapi.plan import Plan, StatusAnswer, WikiState

FORMS = ["", "/bare", "/html", "/with_html"]
SOURCES = FORMS[:2]
MISSING = Plan(state=WikiState(missing=True))


@pytest.mark.parametrize(
    ("path", "named"), [("nope%20x", "nope x"), *((f"MediaWiki:Nope{form}", "MediaWiki:Nope") for form in FORMS)]
)
def test_a_missing_page_is_named_as_it_was_asked_for(wiki: Any, path: str, named: str) -> None:
    answer = wiki.rest(f"page/{path}")
    assert (answer.status, answer.json["errorKey"]) == (404, "rest-nonexistent-title")
    assert f"({named})" in answer.json["messageTranslations"]["en"]


def test_the_source_of_a_system_message_is_missing_or_not_modified(wiki: Any) -> None:
    assert wiki.rest("page/MediaWiki:newpage-desc/html").status == 301
    for form in SOURCES:
        assert wiki.rest(f"page/MediaWiki:Newpage-desc{form}").status == 404
        assert wiki.rest(f"page/MediaWiki:Newpage-desc{form}", headers={"if-none-match": "*"}).status == 304


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
    names = ("etag", "last-modified")
    assert (page.body, *(page[name] for name in names)) == (revision.body, *(revision[name] for name in names))


@pytest.mark.parametrize("title", ["::X::", "Special:BlankPage", "special:blankPage", "A%00b", "%C3%28", "%5B"])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_page_is_404_for_source_and_403_for_html(wiki: Any, title: str, form: str) -> None:
    answer = wiki.rest(f"page/{title}{form}")
    expected = (404, "rest-invalid-title") if form in SOURCES else (403, "rest-permission-denied-title")
    assert (answer.status, answer.json["errorKey"]) == expected


def test_media_is_read_as_file(wiki: Any) -> None:
    assert wiki.rest("page/Media:X/html")["location"] == "/w/rest.php/v1/page/File%3AX/html"


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_title_and_another_value_of_redirect_are_400(wiki: Any, form: str) -> None:
    empty, redirect = wiki.rest(f"page/{form}"), wiki.rest(f"page/Redirect{form}?redirect=yes")
    assert (empty.status, empty.json["failureCode"], empty.json["value"]) == (400, "missingparam", "")
    assert (redirect.status, redirect.json["name"], redirect.json["failureData"]) == (400, "redirect", [])


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
    wiki: Any, path: str, key: str, page: str, revision: int | None, renders: bool
) -> None:
    endpoint = wiki.endpoint(f"/w/rest.php/v1/{path}")
    assert (endpoint.key, endpoint.renders) == (key, renders)
    target = endpoint.targets[0]
    assert (target.wiki, target.page, target.revision) == ("enwiki", page, revision)
