"""Pages and revisions over the REST API, beyond the requests of tests/conformance/requests."""

from datetime import timedelta
from typing import Any, Literal

import pytest

from mockapi.plan import NOTHING, OtherBody, Plan, StatusAnswer, WikiState
from mockapi.wiki.pages.block import Block
from mockapi.wiki.people import Author

SECOND = 4098
TEXT_HIDDEN = 6 * 4096 + 1
USER_HIDDEN = 6 * 4096 + 2
CURRENT = 6 * 4096 + 3
BY = Author("Bob", 9)
REVISION = 8 * 4096 + 2
FORMS = ["", "/bare", "/with_html"]
PAGE_FORMS = ["", "/bare", "/html", "/with_html"]
SOURCES = PAGE_FORMS[:2]
MISSING = Plan(state=WikiState(missing=True))


def test_an_empty_language_and_a_sign_of_the_revision_change_nothing(wiki: Any) -> None:
    plain = wiki.rest(f"revision/{SECOND}/html")
    assert wiki.rest(f"revision/{SECOND}/html", headers={"accept-language": ""})["etag"] == plain["etag"]
    assert wiki.rest("revision/+99999999").body == wiki.rest("revision/99999999").body


def test_parameters_of_html_are_checked_for_html_alone_and_stash_first(wiki: Any) -> None:
    query = "stash=banana&flavor=bogus"
    answer = wiki.rest(f"revision/{SECOND}/html?{query}")
    assert (answer.status, answer.json["failureCode"]) == (400, "badbool")
    assert wiki.rest(f"revision/{SECOND}/bare?{query}").status == 200


def test_compat_lists_the_metadata_and_an_error_names_the_query_too(wiki: Any) -> None:
    error = wiki.rest("revision/abc/html?x=1", headers={"x-restbase-compat": "true"})
    assert error.json["uri"] == "/w/rest.php/v1/revision/abc/html?x=1"
    answer = wiki.rest(f"revision/{USER_HIDDEN}/bare", headers={"x-restbase-compat": "true"})
    assert answer.body.decode() == (
        '{"items":[{"title":"Hidden","page_id":6,"rev":24578,"tid":"DUMMY","namespace":0,"user_id":7,"user_text":null,'
        '"comment":null,"timestamp":"2026-03-04T05:06:07Z","tags":[],"restrictions":["commenthidden","userhidden"],'
        '"page_language":"en","redirect":false}]}'
    )


def test_a_fragment_of_a_saved_revision_is_unavailable(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{SECOND}/html?flavor=fragment", headers={"if-none-match": "*"})
    assert (answer.status, answer.json["error-keys"]) == (404, ["parsoid-revision-access"])


@pytest.mark.parametrize("form", ["", "/bare", "/html", "/with_html"])
@pytest.mark.parametrize(
    ("state", "status"), [(WikiState(missing=True), 404), (WikiState(hidden=frozenset({"text"})), 403)]
)
def test_a_rule_can_take_it_away_or_hide_it(wiki: Any, state: WikiState, status: int, form: str) -> None:
    wiki.plan = Plan(state=state)
    assert wiki.rest(f"revision/{SECOND}{form}").status == status


def test_a_rule_hides_more_than_the_catalog(wiki: Any) -> None:
    wiki.plan = Plan(state=WikiState(hidden=frozenset({"user"})))
    answer = wiki.rest(f"revision/{CURRENT}")
    assert (answer.json["user"], answer.json["comment"], answer["cache-control"]) == (None, "comment 3", None)


def test_a_body_of_another_size_is_that_of_html_and_with_html(wiki: Any) -> None:
    wiki.plan = Plan(body=OtherBody(Block(20_480, 1_024)))
    html = wiki.rest(f"revision/{SECOND}/html")
    assert len(html.body) == 20 * 1024
    assert wiki.rest(f"revision/{SECOND}/with_html").json["html"] == html.body.decode()
    assert wiki.rest(f"revision/{SECOND}").json["size"] == 13


@pytest.mark.parametrize("encoding", ["identity", "br"])
def test_a_coding_of_a_rule_goes_before_gzip(wiki: Any, encoding: Literal["identity", "br"]) -> None:
    wiki.plan = Plan(body=OtherBody(coding=encoding))
    answer = wiki.rest(f"revision/{SECOND}/html", headers={"accept-encoding": "gzip, br"})
    assert answer["content-encoding"] == (None if encoding == "identity" else encoding)
    assert answer["content-length"] == str(len(answer.body))


def test_a_long_document_streams_through_json(wiki: Any) -> None:
    wiki.plan = Plan(body=OtherBody(Block(5 << 20, 65_536)))
    answer = wiki.rest(f"revision/{SECOND}/with_html")
    assert answer["content-length"] is None
    assert len(answer.json["html"].encode()) == 5 * 1024 * 1024
    assert list(answer.json)[-1] == "html"


@pytest.mark.parametrize(
    ("code", "key"), [(404, "rest-nonexistent-revision"), (403, "rest-permission-denied-revision")]
)
def test_a_status_of_a_rule_is_said_of_the_revision(wiki: Any, code: int, key: str) -> None:
    endpoint = wiki.endpoint(f"/w/rest.php/v1/revision/{SECOND}/html")
    reply = endpoint.status_reply(StatusAnswer(code, retry_after=timedelta(seconds=3)), "id")
    assert (reply.status, reply.header(b"retry-after")) == (code, "3")
    assert key.encode() in b"".join(reply.body.pieces())


@pytest.mark.parametrize(
    ("path", "key", "renders"),
    [
        (f"revision/{SECOND}/html", "4098", True),
        (f"revision/0{SECOND}/with_html", "4098", True),
        (f"revision/{SECOND}/bare", "bare:4098", False),
        (f"revision/{SECOND}", "source:4098", False),
        ("revision/99/html", "99", False),
        ("revision/x/html", "/w/rest.php/v1/revision/x/html", False),
    ],
)
def test_rules_see_what_is_asked_for(wiki: Any, path: str, key: str, renders: bool) -> None:
    endpoint = wiki.endpoint(f"/w/rest.php/v1/{path}")
    assert (endpoint.key, endpoint.renders) == (key, renders)
    assert endpoint.targets[0].wiki == "enwiki"
    assert endpoint.targets[0].page == ("Old harbour" if "4098" in key else None)


def asked_twice(wiki: Any, path: str) -> Any:
    first, second = (wiki.rest(path) for _ in range(2))
    assert first == second
    return first.json


@pytest.mark.parametrize("form", FORMS)
def test_writes_are_seen(wiki: Any, form: str) -> None:
    enwiki = wiki.world.wikis.by_name("enwiki")
    overlay = wiki.world.overlay(enwiki, "id")
    title, target = enwiki.title("Generated"), enwiki.title("Moved")
    of_page, of_revision = asked_twice(wiki, f"page/Generated{form}"), asked_twice(wiki, f"revision/{REVISION}{form}")
    overlay.edit(title, "new text", by=BY)
    edited = asked_twice(wiki, f"page/Generated{form}")
    assert edited["latest"]["id"] == of_page["latest"]["id"] + 1
    assert asked_twice(wiki, f"revision/{REVISION}{form}") == of_revision
    overlay.move(title, target, by=BY)
    assert asked_twice(wiki, f"revision/{REVISION}{form}")["page"]["title"] == "Moved"
    overlay.delete(target, by=BY)
    assert wiki.rest(f"revision/{REVISION}{form}").status == 404


@pytest.mark.parametrize("form", FORMS)
def test_a_rule_acts_and_ends(wiki: Any, form: str) -> None:
    path = f"revision/{REVISION}{form}"
    before = asked_twice(wiki, path)
    wiki.plan = Plan(state=WikiState(hidden=frozenset({"user", "comment"})))
    assert asked_twice(wiki, path)["user"] is None
    wiki.plan = Plan(body=OtherBody(Block(20_480, 1_024)))
    assert (asked_twice(wiki, path) == before) is (form != "/with_html")
    wiki.plan = NOTHING
    assert asked_twice(wiki, path) == before


def test_the_same_id_in_two_wikis_is_two_answers(make_wiki: Any, german: Any) -> None:
    wiki = make_wiki(german)
    for _ in range(2):
        english, other = (
            wiki.rest("revision/4097", headers={"host": f"{language}.wikipedia.org"}) for language in ("en", "de")
        )
        assert (english.json["source"], other.json["source"]) == ("one", "eins")


@pytest.mark.parametrize(
    ("path", "named"), [("nope%20x", "nope x"), *((f"MediaWiki:Nope{form}", "MediaWiki:Nope") for form in PAGE_FORMS)]
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
@pytest.mark.parametrize("form", PAGE_FORMS)
def test_what_is_no_page_is_404_for_source_and_403_for_html(wiki: Any, title: str, form: str) -> None:
    answer = wiki.rest(f"page/{title}{form}")
    expected = (404, "rest-invalid-title") if form in SOURCES else (403, "rest-permission-denied-title")
    assert (answer.status, answer.json["errorKey"]) == expected


def test_media_is_read_as_file(wiki: Any) -> None:
    assert wiki.rest("page/Media:X/html")["location"] == "/w/rest.php/v1/page/File%3AX/html"


@pytest.mark.parametrize("form", PAGE_FORMS)
def test_an_empty_title_and_another_value_of_redirect_are_400(wiki: Any, form: str) -> None:
    empty, redirect = wiki.rest(f"page/{form}"), wiki.rest(f"page/Redirect{form}?redirect=yes")
    assert (empty.status, empty.json["failureCode"], empty.json["value"]) == (400, "missingparam", "")
    assert (redirect.status, redirect.json["name"], redirect.json["failureData"]) == (400, "redirect", [])


@pytest.mark.parametrize("form", PAGE_FORMS)
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
    assert [wiki.rest(f"page/Old_harbour{form}").status for form in PAGE_FORMS] == [403, 200, 403, 403]
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
def test_rules_see_what_is_asked_for_of_a_page(
    wiki: Any, path: str, key: str, page: str, revision: int | None, renders: bool
) -> None:
    endpoint = wiki.endpoint(f"/w/rest.php/v1/{path}")
    assert (endpoint.key, endpoint.renders) == (key, renders)
    target = endpoint.targets[0]
    assert (target.wiki, target.page, target.revision) == ("enwiki", page, revision)
