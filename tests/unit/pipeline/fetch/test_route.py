"""Routes of a job, and what MediaWiki's error codes mean, in the table and in each API's words."""

import json
from typing import Any

import pytest

from pipeline.fetch.api_errors import API_ERRORS, meaning_of
from pipeline.fetch.client import FetchedText
from pipeline.fetch.route import HTML, Head, Route, TryAgainError
from pipeline.jobs.content import ContentRoute
from tests.unit.pipeline.fetch.answers import answering, at_once, in_turn, saying

GOOD = '{"query": {"pages": [{"revisions": [{"revid": 5, "slots": {"main": {"content": "text"}}}]}]}}'
LAG = '{"error": {"code": "maxlag", "info": "Waiting for a database server: 7.4 seconds lagged."}}'
BAD = '{"query": {"badrevids": {"5": {"revid": 5, "missing": true}}}}'


CONTENT = ContentRoute(5, unknown_is_final=True)
THROUGH = at_once(5, route=CONTENT)
BOM = "\ufeff"
LATER = [
    *("maxlag", "ratelimited", "actionthrottledtext", "apierror-ratelimited", "rest-rate-limit-exceeded"),
    *("pool-queuefull", "pool-timeout", "pool-errorunknown", "pool-servererror", "poolcounter-connection-error"),
    *("view-pool-error", "view-pool-overload", "concurrency-limit", "apierror-concurrency-limit"),
    *("readonly", "readonlytext", "internal_api_error_DBQueryError"),
]


def test_what_is_asked_and_what_comes_of_it(fetching: Any) -> None:
    exchange = fetching(saying(GOOD), THROUGH)
    (request,) = exchange.requests
    assert request.rel_url.path == "/w/api.php"
    assert request.rel_url.query["revids"] == "5"
    assert request.rel_url.query["maxlag"] == "5"
    assert request.rel_url.query["rvprop"] == "ids|content|contentmodel"
    assert exchange.html == FetchedText("text", len(GOOD))


LAST = {"total_requests": 3}
NO_BUDGET = {"total_requests": 9, "retry_budget": {"share": 0, "burst": 1}}


@pytest.mark.parametrize(
    ("handler", "fetch", "outcome", "requests", "pauses"),
    [
        # And for a drawn pause on top.
        pytest.param(
            in_turn(saying(LAG, Retry_After="0"), saying(LAG, Retry_After="0"), saying(GOOD)),
            {},
            FetchedText("text", len(GOOD)),
            3,
            2,
            id="waited for as long as it says",
        ),
        pytest.param(saying(LAG, Retry_After="5"), {"deadline": "4s"}, "deadline_exceeded", 1, 1, id="not for longer"),
        pytest.param(saying(LAG), LAST, "fetch_failed", 3, 2, id="the record's total of requests"),
        pytest.param(saying(LAG), NO_BUDGET, "fetch_failed", 2, 1, id="the worker's budget"),
    ],
)
def test_a_lag_is_a_retry_like_any_other(
    fetching: Any, handler: Any, fetch: dict[str, Any], outcome: Any, requests: int, pauses: int
) -> None:
    exchange = fetching(handler, THROUGH, fetch=fetch)
    assert (len(exchange.requests), len(exchange.jitter.asked)) == (requests, pauses)
    if isinstance(outcome, str):
        assert exchange.failure.error_type == outcome
        assert "API error maxlag" in exchange.failure.message
    else:
        assert exchange.outcome == outcome


@pytest.mark.parametrize(("final", "requests"), [(True, 1), (False, 2)])
def test_an_unknown_revision_is_asked_for_again_where_that_may_help(fetching: Any, final: bool, requests: int) -> None:
    steps = at_once(5, route=ContentRoute(5, unknown_is_final=final))
    exchange = fetching(in_turn(saying(BAD), saying(GOOD)), steps)
    assert len(exchange.requests) == requests
    if final:
        assert exchange.failure.error_type == "revision_not_found"
    else:
        assert exchange.html.text == "text"


PARSOID = '<!DOCTYPE html>\n<html prefix="dc: x" about="http://w/index.php/Special:Redirect/revision/{}"><head>'


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(Head("text/html; charset=utf-8", "5"), "<p>ä", id="revision in the header"),
        pytest.param(Head("text/html"), PARSOID.format(5), id="in the document's head"),
    ],
)
def test_html_is_the_body_itself(head: Head, body: str) -> None:
    assert HTML.path(5) == "/w/rest.php/v1/revision/5/html"
    assert HTML.read(5, head, body) == body


@pytest.mark.parametrize(
    ("head", "body", "why"),
    [
        (Head("text/html", "5"), "", "no body"),
        (Head("text/html", "5"), " \n", "no body"),
        (Head("text/html"), "<h1>Maintenance</h1>", "it names no revision"),
        (Head("text/html"), "<p>" * 2000 + PARSOID.format(5), "it names no revision"),
        (Head("text/html"), PARSOID.format(6), "revision 6"),
        (Head("text/html", "6"), PARSOID.format(5), "revision 6"),
        (Head("text/html", "5"), PARSOID.format(6), "revision 6"),
        (Head("application/json", "5"), '{"httpCode": 404}', "content type 'application/json'"),
        (Head("", "5"), "<p>", "content type ''"),
    ],
)
def test_what_is_not_the_page_is_an_outage(head: Head, body: str, why: str) -> None:
    with pytest.raises(TryAgainError, match=why) as caught:
        HTML.read(5, head, body)
    assert caught.value.of_upstream


@pytest.mark.parametrize(
    ("route", "body", "word"),
    [
        (HTML, '{"errorKey":"rest-nonexistent-revision","httpCode":404}', "rest-nonexistent-revision"),
        (HTML, '{"error":"parameter-validation-failed","errorKey":"badinteger"}', "badinteger"),
        (HTML, '{"error":"rest-read-denied","httpCode":403,"httpReason":"Forbidden"}', "rest-read-denied"),
        (HTML, '{"errorKey":"rest-no-match","httpCode":404}', None),
        (HTML, '{"httpCode":404,"httpReason":"Not Found"}', None),
        (HTML, '{"errorKey":7}', None),
        (HTML, '{"error":"not found"}', None),
        (HTML, "<h1>404 Not Found</h1>", None),
        (HTML, "[1]", None),
        (HTML, "", None),
        (CONTENT, '{"error":{"code":"readapidenied","info":"You need"}}', "readapidenied"),
        (CONTENT, '{"error":"readapidenied"}', None),
        (CONTENT, '{"error":{"code":"ResourceNotFound","message":"no backend"}}', None),
        (CONTENT, '{"error":{"code":7}}', None),
        (CONTENT, '{"query":{}}', None),
        (CONTENT, "<h1>403 Forbidden</h1>", None),
    ],
)
def test_the_words_of_each_api(route: Route, body: str, word: str | None) -> None:
    assert route.refusal(body) == word


def rest(code: str, **more: Any) -> str:
    return json.dumps({**more, "errorKey": code, "messageTranslations": {"en": "no"}, "httpCode": 403})


def action(code: str) -> str:
    return json.dumps({"error": {"code": code, "info": "no"}, "servedby": "mw1"})


PAGE = answering(200, Content_Type="text/html", Content_Revision_Id="5")
LIMITED = "rest-rate-limit-exceeded"


def test_a_code_has_one_meaning() -> None:
    codes = [code for row in API_ERRORS for code in row.codes]
    assert len(codes) == len(set(codes))
    assert all(meaning_of(code.replace("*", "x")) == row.meaning for row in API_ERRORS for code in row.codes)


@pytest.mark.parametrize("code", ["badinteger", "rest-html-backend-error", "maxlagging", "poolside", "", "*"])
def test_a_code_that_the_table_does_not_have(code: str) -> None:
    assert meaning_of(code) is None


@pytest.mark.parametrize("code", LATER)
@pytest.mark.parametrize(
    ("route", "body"),
    [
        pytest.param(HTML, rest, id="errorKey"),
        pytest.param(HTML, lambda code: rest("rest-x", **{"errors-keys": ["x", code]}), id="errors-keys"),
        pytest.param(HTML, lambda code: rest("rest-html-backend-error", **{"error-keys": [code]}), id="error-keys"),
        pytest.param(CONTENT, action, id="error.code"),
    ],
)
def test_later_is_read_in_each_form(route: Route, body: Any, code: str) -> None:
    found = route.refusal(body(code))
    assert found == code
    assert meaning_of(found) == "later"


@pytest.mark.parametrize("code", LATER)
def test_the_action_api_says_later_with_status_200(code: str) -> None:
    with pytest.raises(TryAgainError, match=f"^API error {code}$") as caught:
        CONTENT.read(5, Head(), action(code))
    assert caught.value.of_upstream


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((status, LIMITED) for status in (400, 403, 404)),
        # Something on the way has changed the request.
        *((404, f"rest-{code}") for code in ("no-match", "prefix-mismatch", "unknown-module", "wrong-method")),
    ],
)
def test_later_is_tried_again_whatever_the_status(fetching: Any, status: int, code: str) -> None:
    exchange = fetching(in_turn(saying(rest(code), status), PAGE), proxy=True)
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)


@pytest.mark.parametrize(("route", "said"), [(HTML, rest("pool-timeout")), (CONTENT, action("pool-timeout"))])
def test_later_ends_as_a_transient_failure(fetching: Any, route: Route, said: str) -> None:
    exchange = fetching(saying(said, 403), at_once(5, route=route), proxy=True, fetch={"total_requests": 3})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("fetch_failed", 3)
    assert exchange.failure.message.endswith("status 403 with API error pool-timeout")


def test_later_obeys_retry_after_within_the_deadline(fetching: Any) -> None:
    handler = in_turn(saying(rest(LIMITED), 403, Retry_After="3600"), PAGE)
    exchange = fetching(handler, proxy=True, fetch={"deadline": "30s"})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("deadline_exceeded", 1)


@pytest.mark.parametrize(
    ("route", "status", "body", "error_type"),
    [
        (HTML, 404, rest("rest-nonexistent-revision"), "revision_not_found"),
        (HTML, 404, BOM + rest("rest-nonexistent-revision"), "revision_not_found"),
        (HTML, 403, BOM + rest("rest-permission-denied-revision"), "access_denied"),
        (HTML, 400, rest("rest-html-backend-error", **{"error-keys": ["parsoid-client-error"]}), "upstream_error"),
        (HTML, 400, rest("rest-html-backend-error", **{"error-keys": "pool-timeout"}), "upstream_error"),
        (HTML, 400, rest("rest-html-backend-error", **{"error-keys": [7, None]}), "upstream_error"),
        (HTML, 413, rest("rest-resource-limit-exceeded"), "content_refused_by_upstream"),
        (HTML, 504, rest(LIMITED), "upstream_error"),
        (CONTENT, 403, BOM + action("readapidenied"), "access_denied"),
        (CONTENT, 200, action("readapidenied"), "access_denied"),
        (CONTENT, 200, BOM + action("readapidenied"), "access_denied"),
        (CONTENT, 200, BOM + action("badinteger"), "upstream_error"),
        (CONTENT, 200, BOM + '{"query": {"badrevids": {"5": {}}}}', "revision_not_found"),
    ],
)
def test_what_is_final_takes_one_request(fetching: Any, route: Route, status: int, body: str, error_type: str) -> None:
    exchange = fetching(saying(body, status), at_once(5, route=route), proxy=True)
    assert (exchange.failure.error_type, len(exchange.requests)) == (error_type, 1)
