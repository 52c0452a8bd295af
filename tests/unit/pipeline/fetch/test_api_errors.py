"""What MediaWiki's error codes mean, in the table, in each API's words, and for the requests of a fetch."""

import json
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.api_errors import API_ERRORS, meaning_of
from pipeline.fetch.route import HTML, Head, Route, TryAgainError
from pipeline.jobs.content import ContentRoute
from pipeline.records.error_event import Failure

CONTENT = ContentRoute(5, unknown_is_final=True)
BOM = "\ufeff"
LATER = [
    "maxlag",
    "ratelimited",
    "actionthrottledtext",
    "apierror-ratelimited",
    "rest-rate-limit-exceeded",
    "pool-queuefull",
    "pool-timeout",
    "pool-errorunknown",
    "pool-servererror",
    "poolcounter-connection-error",
    "view-pool-error",
    "view-pool-overload",
    "concurrency-limit",
    "apierror-concurrency-limit",
    "readonly",
    "readonlytext",
    "internal_api_error_DBQueryError",
]


def rest(code: str, **more: Any) -> str:
    return json.dumps({**more, "errorKey": code, "messageTranslations": {"en": "no"}, "httpCode": 403})


def action(code: str) -> str:
    return json.dumps({"error": {"code": code, "info": "no"}, "servedby": "mw1"})


def answering(status: int, body: str, *, then: int | None = None, **headers: str) -> Any:
    """`body` for the first request; for later ones too, unless they get the status `then`."""

    async def handler(_request: web.Request, number: int) -> web.Response:
        if number > 1 and then is not None:
            good = {"Content-Type": "text/html", "Content-Revision-Id": "5"}
            return web.Response(status=then, body=b"<p>", headers=good)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body.encode(), headers={"Content-Type": "application/json", **sent})

    return handler


def through(route: Route) -> Any:
    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(route=route)]

    return steps


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
        pytest.param(
            HTML, lambda code: rest("rest-permission-error", **{"errors-keys": ["x", code]}), id="errors-keys"
        ),
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
    with pytest.raises(TryAgainError, match=f"API error {code}") as caught:
        CONTENT.read(5, Head(), action(code))
    assert caught.value.of_upstream


@pytest.mark.parametrize("status", [400, 403, 404])
def test_later_is_tried_again_whatever_the_status(fetching: Any, status: int) -> None:
    exchange = fetching(answering(status, rest("rest-rate-limit-exceeded"), then=200), proxy=True)
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)


@pytest.mark.parametrize(("route", "said"), [(HTML, rest("pool-timeout")), (CONTENT, action("pool-timeout"))])
def test_later_ends_as_a_transient_failure(fetching: Any, route: Route, said: str) -> None:
    exchange = fetching(answering(403, said), through(route), proxy=True, fetch={"total_requests": 3})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("fetch_failed", 3)
    assert exchange.failure.message.endswith("status 403 with API error pool-timeout")


def test_later_obeys_retry_after_within_the_deadline(fetching: Any) -> None:
    handler = answering(403, rest("rest-rate-limit-exceeded"), then=200, Retry_After="3600")
    exchange = fetching(handler, proxy=True, fetch={"deadline": "30s"})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("deadline_exceeded", 1)


def test_504_is_not_retried_whatever_its_body_says(fetching: Any) -> None:
    exchange = fetching(answering(504, rest("rest-rate-limit-exceeded")), proxy=True)
    assert (exchange.failure.error_type, len(exchange.requests)) == ("upstream_error", 1)


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
        (CONTENT, 403, BOM + action("readapidenied"), "access_denied"),
        (CONTENT, 200, action("readapidenied"), "access_denied"),
        (CONTENT, 200, BOM + action("readapidenied"), "access_denied"),
        (CONTENT, 200, BOM + action("badinteger"), "upstream_error"),
        (CONTENT, 200, BOM + '{"query": {"badrevids": {"5": {}}}}', "revision_not_found"),
    ],
)
def test_what_is_final_takes_one_request(fetching: Any, route: Route, status: int, body: str, error_type: str) -> None:
    exchange = fetching(answering(status, body), through(route), proxy=True)
    assert isinstance(exchange.outcome, Failure)
    assert (exchange.failure.error_type, len(exchange.requests)) == (error_type, 1)


@pytest.mark.parametrize("code", ["rest-no-match", "rest-prefix-mismatch", "rest-unknown-module", "rest-wrong-method"])
def test_a_request_that_something_changed_is_an_outage(fetching: Any, code: str) -> None:
    exchange = fetching(answering(404, rest(code), then=200), proxy=True)
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)
