from typing import Any

import pytest

from mockapi.api.action.endpoint import ActionApi
from mockapi.server.request import Request

ORDER_OF_READS = [
    "x-content-type-options", "content-type", "x-frame-options", "content-disposition", "vary", "cache-control",
    "content-length", "x-request-id",
]  # fmt: skip
ORDER_OF_PRIVATE = [*ORDER_OF_READS[:4], "cache-control", "vary", "content-length", "x-request-id"]


def test_headers_of_a_read_are_in_mediawikis_order(api: Any) -> None:
    answer = api.get(action="query", titles="Old harbour")
    assert (answer.status, answer.names) == (200, ORDER_OF_READS)
    assert answer["content-type"] == "application/json; charset=utf-8"
    assert answer["content-disposition"] == "inline; filename=api-result.json"
    assert answer["vary"] == "Accept-Encoding, Treat-as-Untrusted, Cookie"
    assert answer["cache-control"] == "private, must-revalidate, max-age=0"
    assert answer["content-length"] == str(len(answer.body))


def test_headers_of_what_is_about_who_asks_have_another_order(api: Any) -> None:
    answer = api.get(action="query", meta="userinfo")
    assert answer.names == ORDER_OF_PRIVATE
    assert answer["vary"] == "Accept-Encoding"


def test_an_error_is_a_200_that_names_its_code(api: Any) -> None:
    answer = api.get(action="bogus")
    assert answer.status == 200
    assert answer.names == ["x-content-type-options", "mediawiki-api-error", *ORDER_OF_PRIVATE[1:]]


@pytest.mark.parametrize("version", [1, 2])
def test_an_error_says_where_to_read_on(api: Any, version: int) -> None:
    error = api.get(action="bogus", formatversion=version).json["error"]
    assert list(error) == ["code", "info", "*" if version == 1 else "docref"]
    assert list(error.values())[2].startswith("See https://en.wikipedia.org/w/api.php for API usage. Subscribe to the")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("plaintext", {"code": "badinteger", "text": 'Invalid value "<" for integer parameter "revids".'}),
        ("wikitext", {"code": "badinteger", "text": 'Invalid value "<" for integer parameter "revids".'}),
        ("html", {"code": "badinteger", "html": 'Invalid value "&lt;" for integer parameter "revids".'}),
        ("none", {"code": "badinteger"}),
        (
            "raw",
            {
                "code": "badinteger",
                "key": "paramvalidator-badinteger",
                "params": [{"plaintext": "revids"}, {"plaintext": "<"}],
            },
        ),
    ],
)
def test_newer_forms_list_errors(api: Any, form: str, expected: dict[str, Any]) -> None:
    answer = api.get(action="query", revids="<", errorformat=form).json
    assert list(answer) == ["errors", "docref"]
    assert answer["errors"] == [{**expected, "module": "query"}]


def test_newer_forms_list_warnings_with_their_data(api: Any) -> None:
    answer = api.get(action="query", prop="revisions", titles="Old harbour", rvprop="x", errorformat="plaintext")
    assert answer.json["warnings"] == [
        {
            "code": "unrecognizedvalues",
            "text": 'Unrecognized value for parameter "rvprop": x',
            "data": {"values": ["x"]},
            "module": "query+revisions",
        }
    ]


def test_an_unknown_version_of_the_format_is_told_of_twice(api: Any) -> None:
    answer = api.get(action="query", formatversion=3).json
    text = 'Unrecognized value for parameter "formatversion": 3.'
    assert list(answer) == ["warnings", "error"]
    assert answer["warnings"] == {
        "json": {"*": text},
        "main": {"*": "Error printer failed. Will retry without params."},
    }
    assert answer["error"]["info"] == text


def test_gzip_is_for_who_takes_it(api: Any) -> None:
    answer = api.ask("action=query&format=json&meta=siteinfo", accept_encoding="gzip")
    assert answer["content-encoding"] == "gzip"
    assert answer["content-length"] == str(len(answer.body))
    assert answer.json == api.ask("action=query&format=json&meta=siteinfo").json


def test_head_is_answered_as_get(api: Any) -> None:
    get, head = (api.ask("action=query&format=json", method=method) for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (200, b"")
    assert [pair for pair in head.headers if pair[0] != "x-request-id"] == [
        pair for pair in get.headers if pair[0] != "x-request-id"
    ]


def test_a_callback_gets_a_script_and_no_more_than_a_name(api: Any) -> None:
    answer = api.ask("action=query&format=json&callback=foo(1);x")
    assert answer.text == '/**/foo1x({"batchcomplete":""})'
    assert answer["content-type"] == "text/javascript; charset=utf-8"
    assert answer["content-disposition"] == "inline; filename=api-result.js"


@pytest.mark.parametrize(
    ("query", "error"),
    [("action=query", None), ("action=query&format=jsonfm", None), ("format=xml", "mock-not-implemented")],
)
def test_other_formats_are_a_page_for_people(api: Any, query: str, error: str | None) -> None:
    answer = api.ask(query)
    assert answer["content-type"] == "text/html; charset=UTF-8"
    assert answer["mediawiki-api-error"] == error
    assert "<title>MediaWiki API result - Wikipedia</title>" in answer.text


@pytest.mark.parametrize("query", ["", "format=json", "action=help&format=json"])
def test_without_an_action_there_is_help(api: Any, query: str) -> None:
    answer = api.ask(query)
    assert "<li>action=query</li>" in answer.text
    assert answer["content-disposition"] == "inline; filename=api-help.html"


def test_format_none_has_no_body(api: Any) -> None:
    assert api.ask("action=query&format=none").body == b""


@pytest.mark.parametrize(
    ("asked", "kept", "expires"),
    [
        ({"maxage": 60, "smaxage": 30}, "s-maxage=30, max-age=60, public", "Mon, 01 Jun 2026 12:00:30 GMT"),
        ({"maxage": 60}, "s-maxage=0, max-age=60, public", "Thu, 01 Jan 1970 00:00:01 GMT"),
        ({"maxage": 60, "meta": "userinfo"}, "private, must-revalidate, max-age=60", None),
        ({"maxage": 60, "revids": "x"}, "private, must-revalidate, max-age=0", None),
    ],
)
def test_caches_keep_what_the_client_says(api: Any, asked: dict[str, Any], kept: str, expires: str | None) -> None:
    answer = api.get(action="query", **asked)
    assert (answer["cache-control"], answer["expires"]) == (kept, expires)


def test_caches_keep_nothing_of_a_session_unless_it_cannot_matter(admin: Any) -> None:
    assert admin.get(action="query", maxage=60)["cache-control"] == "private, must-revalidate, max-age=60"
    assert admin.get(action="query", maxage=60, uselang="content")["cache-control"] == "s-maxage=0, max-age=60, public"


@pytest.mark.parametrize(("tag", "status"), [("*", 304), ('"x"', 200)])
def test_an_answer_of_the_api_always_exists(api: Any, tag: str, status: int) -> None:
    assert api.ask("action=query&format=json", if_none_match=tag).status == status
    assert api.ask("action=query&format=json", method="POST", if_none_match=tag).status == 200


def test_options_are_empty(api: Any) -> None:
    answer = api.ask("action=query&format=json", method="OPTIONS")
    assert (answer.status, answer.body) == (200, b"")


def test_an_origin_has_to_be_the_browsers(api: Any) -> None:
    answer = api.ask("action=query&format=json&origin=https://a.org")
    assert (answer.status, answer.body) == (403, b"'origin' parameter does not match Origin header\n")
    headers = api.ask("action=query&format=json&origin=https://a.org", origin="https://a.org")
    assert headers["mediawiki-cors-rejection"] == "Origin mismatch"
    assert headers["vary"] == "Accept-Encoding, Origin, Treat-as-Untrusted, Cookie"
    assert api.ask("action=query&format=json&origin=*")["access-control-allow-origin"] == "*"


def test_path_info_is_sent_away(api: Any) -> None:
    answer = api.ask("action=query", path="/w/api.php/x")
    assert (answer.status, answer["location"]) == (301, "https://en.wikipedia.org/w/api.php?action=query")


def test_a_host_that_is_no_wikis_is_unknown_where_there_are_several(make_api: Any, make_page: Any) -> None:
    api = make_api(make_page(1, "Hafen", "x", wiki="dewiki"))
    assert api.ask("action=query&format=json", host="127.0.0.1").status == 404
    assert api.ask("action=query&format=json", host="de.wikipedia.org").status == 200


@pytest.mark.parametrize(
    ("code", "content_type", "words"),
    [
        (504, "text/plain", b"upstream request timeout"),
        (429, "text/plain", b"You are making too many requests to the API."),
        (500, "application/json; charset=utf-8", b'"code":"internal_api_error_RuntimeException"'),
        (403, "application/json; charset=utf-8", b'"code":"readapidenied"'),
        (413, "application/json; charset=utf-8", b'"code":"http-contenttoolarge"'),
        (404, "text/html; charset=utf-8", b"<title>404 Not Found</title>"),
    ],
)
def test_a_status_fault_is_in_the_words_of_who_gives_it(
    make_api: Any, code: int, content_type: str, words: bytes
) -> None:
    api = make_api(rules=({"name": "down", "when": {"path": "/w/api.php"}, "do": {"status": code}},))
    answer = api.get(action="query")
    assert (answer.status, answer["content-type"]) == (code, content_type)
    assert words in answer.body


def test_the_journal_tells_the_first_thing_a_request_is_about(api: Any) -> None:
    api.get(action="query", revids="4098|28673")
    entry = api.world.journal.entries()[-1]
    assert (entry.wiki, entry.page, entry.revision) == ("enwiki", "Old harbour", 4098)


def test_the_key_leaves_out_what_differs_between_two_requests_for_the_same(api: Any) -> None:
    def key(query: str) -> str:
        endpoint = ActionApi.match(Request("GET", "/w/api.php", "/w/api.php", query, {}, ""), api.world)
        assert endpoint is not None
        return endpoint.key

    assert key("revids=1&action=query&requestid=a&token=x&continue=") == key("action=query&revids=1&requestid=b")
    assert key("action=query&revids=1") == "action=query&revids=1"
    assert key("action=query&revids=1") != key("action=query&revids=2")
    assert len(key("text=" + "x" * 1000)) < 100
