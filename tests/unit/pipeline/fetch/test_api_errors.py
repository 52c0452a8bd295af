"""What MediaWiki's error codes mean, in the table, in each API's words, and for the requests of a fetch."""

import json
from typing import Any

import pytest

from pipeline.fetch.api_errors import API_ERRORS, meaning_of
from pipeline.fetch.route import HTML, Head, Route, TryAgainError
from pipeline.jobs.content import ContentRoute
from tests.unit.pipeline.fetch.answers import answering, at_once, in_turn, saying

CONTENT = ContentRoute(5, unknown_is_final=True)
BOM = "\ufeff"
LATER = [
    *("maxlag", "ratelimited", "actionthrottledtext", "apierror-ratelimited", "rest-rate-limit-exceeded"),
    *("pool-queuefull", "pool-timeout", "pool-errorunknown", "pool-servererror", "poolcounter-connection-error"),
    *("view-pool-error", "view-pool-overload", "concurrency-limit", "apierror-concurrency-limit"),
    *("readonly", "readonlytext", "internal_api_error_DBQueryError"),
]


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
