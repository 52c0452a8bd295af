import gzip
import hashlib
from datetime import timedelta
from typing import Any, Literal

import pytest

from mockapi.plan import OtherBody, Plan, StatusAnswer, WikiState
from mockapi.wiki.pages.block import Block

SOURCE_HEADERS = ["content-type", "cache-control", "last-modified", "etag", "vary", "content-length"]
HTML_TYPE = 'text/html; charset=utf-8; profile="https://www.mediawiki.org/wiki/Specs/HTML/{}"'
SECOND = 4098
TEXT_HIDDEN = 6 * 4096 + 1
USER_HIDDEN = 6 * 4096 + 2
CURRENT = 6 * 4096 + 3


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def around(names: list[str]) -> list[str]:
    return ["x-content-type-options", *names, "x-request-id"]


def test_source_is_the_metadata_with_the_text(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{SECOND}")
    assert answer.names == around(SOURCE_HEADERS)
    assert (answer["content-type"], answer["cache-control"]) == ("application/json", "max-age=5")
    assert answer["etag"] == f'"{sha1("4098a1")}"'
    assert answer["last-modified"] == "Wed, 04 Mar 2026 05:06:07 GMT"
    assert answer.body.decode() == (
        '{"id":4098,"size":13,"minor":'
        + ("true" if answer.json["minor"] else "false")
        + ',"timestamp":"2026-03-04T05:06:07Z",'
        '"content_model":"wikitext","page":{"id":1,"key":"Old_harbour","title":"Old harbour"},'
        '"license":{"url":"","title":""},"user":{"id":7,"name":"Ada"},"comment":"comment 2","delta":10,'
        "\"source\":\"two ''words''\"}"
    )


def test_bare_has_the_place_of_the_html(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{SECOND}/bare")
    assert answer.json["html_url"] == f"https://en.wikipedia.org/w/rest.php/v1/revision/{SECOND}/html"
    assert list(answer.json)[-2:] == ["delta", "html_url"]
    module = wiki.ask(f"/w/rest.php/content/v1/revision/{SECOND}/bare")
    assert module.json["html_url"] == f"https://en.wikipedia.org/w/rest.php/content/v1/revision/{SECOND}/html"


def test_the_first_revision_has_no_delta(wiki: Any) -> None:
    assert wiki.rest("revision/4097/bare").json["delta"] is None


def test_with_html_is_the_metadata_with_the_document(wiki: Any) -> None:
    html, answer = wiki.rest(f"revision/{SECOND}/html"), wiki.rest(f"revision/{SECOND}/with_html")
    assert answer.json["html"] == html.body.decode()
    assert list(answer.json)[-2:] == ["delta", "html"]
    assert answer.names == around(
        ["content-type", "content-revision-id", "cache-control", "last-modified", "etag", "vary", "content-length"]
    )
    assert answer["etag"] == html["etag"].replace("/html", "/with_html")


def test_the_language_of_the_client_is_in_the_headers(wiki: Any) -> None:
    plain, english = (
        wiki.rest(f"revision/{SECOND}/html"),
        wiki.rest(f"revision/{SECOND}/html", headers={"accept-language": "de-AT, en"}),
    )
    assert english.names == around(
        [
            *("content-type", "content-language", "vary", "content-revision-id", "cache-control"),
            *("last-modified", "etag", "content-length"),
        ]
    )
    assert english["etag"] == plain["etag"][:-1] + '+lang:de-AT"'
    assert english["vary"] == "Accept-Language, x-restbase-compat"
    assert wiki.rest(f"revision/{SECOND}/html", headers={"accept-language": "*"})["etag"].endswith('+lang:und"')
    assert wiki.rest(f"revision/{SECOND}/html", headers={"accept-language": ""})["etag"] == plain["etag"]
    assert "+lang" not in wiki.rest(f"revision/{SECOND}", headers={"accept-language": "de"})["etag"]


@pytest.mark.parametrize("form", ["", "/bare", "/html", "/with_html"])
@pytest.mark.parametrize("revision", ["99999999", "0", "-5", str(5 * 4096 + 1), "+99999999"])
def test_what_is_not_there_is_404(wiki: Any, form: str, revision: str) -> None:
    answer = wiki.rest(f"revision/{revision}{form}")
    assert answer.names == around(["content-type", "vary", "content-length"])
    assert answer.body.decode() == (
        '{"errorKey":"rest-nonexistent-revision","messageTranslations":'
        f'{{"en":"The specified revision ({int(revision)}) does not exist"}},"httpCode":404,"httpReason":"Not Found"}}'
    )


@pytest.mark.parametrize("form", ["", "/bare", "/html", "/with_html"])
def test_hidden_text_is_403(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"revision/{TEXT_HIDDEN}{form}")
    assert (answer.status, answer.json["errorKey"]) == (403, "rest-permission-denied-revision")
    assert answer["content-length"] is None


@pytest.mark.parametrize("form", ["", "/bare", "/with_html"])
def test_hidden_user_and_comment_are_null_and_not_cached(wiki: Any, form: str) -> None:
    answer = wiki.rest(f"revision/{USER_HIDDEN}{form}")
    assert (answer.status, answer.json["user"], answer.json["comment"]) == (200, None, None)
    assert answer["cache-control"] is None


def test_html_of_a_stylesheet_is_no_document_of_parsoid(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{7 * 4096 + 1}/html")
    assert answer["content-type"] == HTML_TYPE.format("0.0.0")
    assert answer.body == b'<pre class="mw-code mw-css" dir="ltr">\na{}\n</pre>\n'


def test_compat_lists_the_metadata(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{USER_HIDDEN}/bare", headers={"x-restbase-compat": "true"})
    assert answer.body.decode() == (
        '{"items":[{"title":"Hidden","page_id":6,"rev":24578,"tid":"DUMMY","namespace":0,"user_id":7,"user_text":null,'
        '"comment":null,"timestamp":"2026-03-04T05:06:07Z","tags":[],"restrictions":["commenthidden","userhidden"],'
        '"page_language":"en","redirect":false}]}'
    )


def test_a_compat_error_has_restbases_members_between(wiki: Any) -> None:
    answer = wiki.rest("revision/abc/html?x=1", headers={"x-restbase-compat": "true"})
    assert list(answer.json) == [
        *("error", "name", "value", "failureCode", "failureData"),
        *("type", "title", "method", "detail", "uri"),
        *("errorKey", "messageTranslations", "httpCode", "httpReason"),
    ]
    assert (answer.json["type"], answer.json["title"]) == ("MediaWikiError/Bad_Request", "paramvalidator-badinteger")
    assert answer.json["uri"] == "/w/rest.php/v1/revision/abc/html?x=1"


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("flavor=bogus", "badvalue", 'Unrecognized value for parameter "flavor": bogus.'),
        (
            "stash=banana",
            "badbool",
            'Invalid value "banana" for boolean parameter "stash". Pass "true", "t", "yes", "y", '
            '"on" and "1" for true, or "false", "f", "no", "n", "off", "0" and the empty string for false.',
        ),
        ("stash=banana&flavor=bogus", "badbool", None),
    ],
)
def test_a_bad_parameter_is_400(wiki: Any, query: str, code: str, text: str | None) -> None:
    answer = wiki.rest(f"revision/{SECOND}/html?{query}")
    assert (answer.status, answer.json["failureCode"]) == (400, code)
    assert text in {None, answer.json["messageTranslations"]["en"]}
    assert wiki.rest(f"revision/{SECOND}/bare?{query}").status == 200


@pytest.mark.parametrize(
    ("query", "flavor"),
    [("flavor=edit", "edit"), ("stash=1", "stash"), ("stash=1&flavor=edit", "stash"), ("flavor=view&stash=no", "view")],
)
def test_the_flavor_is_in_the_etag(wiki: Any, query: str, flavor: str) -> None:
    answer = wiki.rest(f"revision/{SECOND}/html?{query}")
    assert f"/{flavor}/html" in answer["etag"]
    assert (b"data-parsoid=" in answer.body) == (flavor == "edit")


def test_a_fragment_of_a_saved_revision_is_unavailable(wiki: Any) -> None:
    answer = wiki.rest(f"revision/{SECOND}/html?flavor=fragment", headers={"if-none-match": "*"})
    assert (answer.status, answer.json["error-keys"]) == (404, ["parsoid-revision-access"])


@pytest.mark.parametrize("path", [f"revision/{SECOND}", f"revision/{SECOND}/html", "revision/99", "revision/abc"])
def test_what_accepts_gzip_gets_gzip(wiki: Any, path: str) -> None:
    plain, packed = wiki.rest(path), wiki.rest(path, headers={"accept-encoding": "br, gzip"})
    assert gzip.decompress(packed.body) == plain.body
    assert packed["content-encoding"] == "gzip"
    if plain["content-length"]:
        assert packed["content-length"] == str(len(packed.body))


def test_other_methods_are_405_and_options_204(wiki: Any) -> None:
    refused = wiki.rest(f"revision/{SECOND}/html", method="PUT")
    assert (refused.status, refused["allow"]) == (405, "HEAD, GET")
    options = wiki.rest(f"revision/{SECOND}/html", method="OPTIONS")
    assert (options.status, options["access-control-allow-methods"], options.body) == (204, "HEAD, GET", b"")


@pytest.mark.parametrize("form", ["", "/bare", "/html", "/with_html"])
def test_a_rule_can_take_it_away_or_hide_it(wiki: Any, form: str) -> None:
    wiki.plan = Plan(state=WikiState(missing=True))
    assert wiki.rest(f"revision/{SECOND}{form}").status == 404
    wiki.plan = Plan(state=WikiState(hidden=frozenset({"text"})))
    assert wiki.rest(f"revision/{SECOND}{form}").status == 403


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
