"""The Action API as a whole, beyond the requests of tests/conformance/requests."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mockapi.api.action import mediawiki_modules
from mockapi.api.action.call import lag_seconds
from mockapi.api.action.endpoint import ActionApi
from mockapi.api.action.main import PARAMETERS
from mockapi.api.action.query.query import LIST, META, PROP
from mockapi.api.action.query.query import PARAMETERS as QUERY_PARAMETERS
from mockapi.api.action.registry import ACTIONS
from mockapi.server.request import Request

DOCUMENT = Path(__file__).parents[5] / "docs" / "mock.md"
PAGE = {"action": "query", "titles": "Old harbour"}
ABSENT = [
    # parameters of the request, what the error names, what it says is there
    ({"action": "query", "list": "allpages"}, "list=allpages", "values of list: none."),
    ({"action": "query", "list": "bogus|allpages|search"}, "list=allpages|search", "values of list: none."),
    ({"action": "query", "list": "geosearch"}, "list=geosearch", "values of list: none."),
    ({**PAGE, "prop": "info|categories"}, "prop=categories", "values of prop: info, pageprops, revisions."),
    ({**PAGE, "prop": "extracts"}, "prop=extracts", "values of prop: info, pageprops, revisions."),
    ({"action": "query", "meta": "allmessages"}, "meta=allmessages", "values of meta: siteinfo, tokens, userinfo."),
    ({"action": "query", "meta": "siteinfo", "siprop": "magicwords"}, "siprop=magicwords", "siprop: general, "),
    ({"action": "query", "generator": "allpages"}, "generator=allpages", "values of generator: none."),
    ({"action": "parse", "page": "Old harbour"}, "action=parse", "values of action: login, "),
    ({"action": "paraminfo"}, "action=paraminfo", "values of action: login, "),
    ({"action": "checktoken", "type": "csrf"}, "action=checktoken", "values of action: login, "),
    ({"action": "wbgetentities", "ids": "Q1"}, "action=wbgetentities", "values of action: login, "),
    ({**PAGE, "prop": "revisions", "rvprop": "ids|parsetree"}, "rvprop=parsetree", "values of rvprop: ids, "),
    ({**PAGE, "prop": "revisions", "rvdiffto": "prev"}, 'parameter "rvdiffto"', ""),
    ({**PAGE, "prop": "revisions", "rvparse": "1"}, 'parameter "rvparse"', ""),
    ({**PAGE, "export": "1"}, 'parameter "export"', ""),
    ({"action": "edit", "title": "Old harbour", "undo": "4098"}, 'parameter "undo"', ""),
]


def test_an_error_in_html_escapes_what_was_asked(api: Any) -> None:
    answer = api.get(action="query", revids="<", errorformat="html").json
    expected = {"code": "badinteger", "html": 'Invalid value "&lt;" for integer parameter "revids".', "module": "query"}
    assert answer["errors"] == [expected]


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


def test_a_true_assertion_changes_nothing(admin: Any) -> None:
    assert admin.get(action="query", **{"assert": "user"}, assertuser="Admin").json == {"batchcomplete": True}
    code, _ = admin.get(action="query", **{"assert": "anon"}).error
    assert code == "assertanonfailed"


def test_what_is_asked_for_beside_the_answer_stands_before_it(api: Any) -> None:
    answer = api.get(
        action="query", requestid='a"b', curtimestamp=1, servedby=1, responselanginfo=1, titles="Old harbour"
    )
    assert list(answer.json) == ["batchcomplete", "requestid", "curtimestamp", "uselang", "errorlang", "query"]
    assert (answer.json["requestid"], answer.json["curtimestamp"]) == ('a"b', "2026-06-01T12:00:00Z")


def test_an_error_has_the_request_id_too(api: Any) -> None:
    assert list(api.get(action="bogus", requestid="7").json) == ["error", "requestid"]


def test_a_post_without_a_type_is_told_so(api: Any) -> None:
    warnings = api.ask("action=query&format=json", method="POST", content_type="").json["warnings"]["main"]["*"]
    assert warnings.startswith(
        'A POST request was made without a "Content-Type" header. This does not work reliably.\n'
    )


def test_an_untrusted_client_is_nobody(admin: Any) -> None:
    for more in ({"origin": "*"}, {"callback": "f"}):
        answer = admin.get(action="query", meta="userinfo", **more)
        assert answer["mediawiki-login-suppressed"] == "true"
        assert '"anon":true' in answer.text
    assert '"anon":""' in admin.ask("action=query&meta=userinfo&format=json", treat_as_untrusted="1").text


def lagging(make_api: Any, lag: str) -> Any:
    return make_api(rules=({"name": "lag", "do": {"database_lag": lag}},))


def test_more_lag_than_the_client_takes_sends_it_away(make_api: Any) -> None:
    answer = lagging(make_api, "7.5s").get(action="query", titles="Old harbour", maxlag="7")
    assert answer.status == 200
    assert (answer["retry-after"], answer["x-database-lag"]) == ("7", "7")
    assert answer.error == ("maxlag", "Waiting for a database server: 7.5 seconds lagged.")
    assert list(answer.json["error"].items())[2:5] == [("host", ""), ("lag", 7.5), ("type", "db")]
    assert answer.names.index("retry-after") < answer.names.index("mediawiki-api-error")


@pytest.mark.parametrize(("lag", "words"), [("1s", "1 second"), ("2s", "2 seconds"), ("1500ms", "1.5 seconds")])
def test_the_least_pause_is_five_seconds(make_api: Any, lag: str, words: str) -> None:
    answer = lagging(make_api, lag).get(action="query", maxlag="0")
    assert answer["retry-after"] == "5"
    assert answer.error[1] == f"Waiting for a database server: {words} lagged."


@pytest.mark.parametrize("maxlag", [{}, {"maxlag": "9"}])
def test_lag_alone_changes_nothing(make_api: Any, maxlag: dict[str, str]) -> None:
    assert lagging(make_api, "7s").get(action="query", **maxlag).json == {"batchcomplete": True}


def test_siteinfo_tells_the_lag(make_api: Any) -> None:
    answer = lagging(make_api, "7s").query(meta="siteinfo", siprop="dbrepllag")["dbrepllag"]
    assert answer == [{"host": "", "lag": 7}]


@pytest.mark.parametrize(
    ("lag", "expected"), [(None, -1), (timedelta(seconds=3), 3), (timedelta(milliseconds=2500), 2.5)]
)
def test_whole_seconds_have_no_fraction(lag: timedelta | None, expected: float) -> None:
    assert repr(lag_seconds(lag)) == repr(expected)


@pytest.mark.parametrize(("parameters", "what", "implemented"), ABSENT)
def test_what_the_mock_lacks_is_an_error_by_name(
    api: Any, parameters: dict[str, str], what: str, implemented: str
) -> None:
    code, info = api.get(**parameters).error
    assert code == "mock-not-implemented"
    assert info.startswith(f"The mock does not implement {what}.")
    assert implemented in info
    assert "--lenient" in info


@pytest.mark.parametrize(
    ("parameters", "answer"),
    [
        ({"action": "query", "list": "allpages"}, 'Unrecognized value for parameter "list": allpages'),
        ({**PAGE, "prop": "extracts"}, 'Unrecognized value for parameter "prop": extracts'),
        ({"action": "query", "generator": "allpages"}, ("badgenerator", 'Unknown "generator=allpages".')),
        ({"action": "parse"}, ("badvalue", 'Unrecognized value for parameter "action": parse.')),
    ],
)
def test_a_lenient_mock_takes_it_for_unknown(
    make_api: Callable[..., Any], parameters: dict[str, str], answer: str | tuple[str, str]
) -> None:
    found = make_api(lenient=True).get(**parameters)
    if isinstance(answer, tuple):
        assert found.error == answer
    else:
        assert found.json["warnings"] == {"query": {"warnings": answer}}


def test_a_lenient_mock_ignores_a_parameter_that_it_does_not_implement(make_api: Callable[..., Any]) -> None:
    answer = make_api(lenient=True).get(**PAGE, prop="revisions", rvprop="ids", rvdiffto="prev").json
    assert answer["query"]["pages"][0]["revisions"] == [{"revid": 4099, "parentid": 4098}]


def test_the_page_says_which_modules_there_are() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    assert f"`prop={'|'.join(PROP)}`" in page
    assert f"`meta={'|'.join(META)}`" in page
    assert not LIST
    listed = page.partition("and for writes")[2].partition(".")[0]
    assert set(re.findall("`([a-z]+)`", listed)) == ACTIONS.keys() - {"query", "help"}


def test_all_that_the_mock_has_is_mediawikis() -> None:
    assert ACTIONS.keys() <= mediawiki_modules.ACTION
    assert PROP.keys() <= mediawiki_modules.PROP
    assert LIST.keys() <= mediawiki_modules.LIST
    assert META.keys() <= mediawiki_modules.META
    for parameter in (*PARAMETERS, *QUERY_PARAMETERS):
        assert not parameter.of_mediawiki or set(parameter.allowed) - {""} <= parameter.of_mediawiki
