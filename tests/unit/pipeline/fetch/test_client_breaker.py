"""What the client makes of a wiki that is unwell, and of a proxy that answers in its place."""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.route import HTML, Route
from pipeline.jobs.content import ContentRoute
from pipeline.records.error_event import Failure
from tests.unit.pipeline.fetch.answers import answering, at_once, failing, never, saying
from tests.unit.pipeline.fetch.conftest import CountingJitter

BREAKER = {"minimum_requests": 4, "trial_requests": 1}
ONCE = {"total_requests": 1}
CONTENT = ContentRoute(5, unknown_is_final=True)
UNWELL = '{"error": {"code": "internal_api_error_DBQueryError", "info": "unwell"}}'
GOOD_OF_NONE = '{"query": {"pages": [{"revisions": []}]}}'
BAD_IDS = json.dumps({"query": {"badrevids": {str(number): {} for number in range(30)}}})
MAINTENANCE = b"<!DOCTYPE html><title>Maintenance</title><h1>Back soon</h1>"
# Such as many gateways have it: an `error.code`, and none of the API's `info` beside it.
GATEWAY_ERROR = b'{"error":{"code":"ResourceNotFound","message":"No backend is known by this name"}}'


def kinds(outcomes: list[Any]) -> Counter[str]:
    return Counter(outcome.error_type if isinstance(outcome, Failure) else "well" for outcome in outcomes)


@pytest.mark.parametrize(
    ("handler", "route", "fetch", "error_type"),
    [
        pytest.param(answering(500), HTML, {}, "fetch_failed", id="500"),
        pytest.param(answering(503), HTML, {}, "fetch_failed", id="503"),
        pytest.param(answering(504), HTML, {}, "upstream_error", id="504"),
        pytest.param(answering(429), HTML, {}, "fetch_failed", id="429"),
        pytest.param(never, HTML, {"request_timeout": "50ms"}, "fetch_failed", id="no answer in time"),
        pytest.param(never, HTML, {"deadline": "50ms"}, "deadline_exceeded", id="no answer before the deadline"),
        # So does MediaWiki when its replicas lag.
        pytest.param(answering(200, Retry_After="5"), HTML, {}, "well", id="200 that asks to come later"),
        pytest.param(saying(UNWELL), CONTENT, {}, "fetch_failed", id="200 with a database error"),
        pytest.param(saying('{"error": {"code": "maxlag", "info": "unwell"}}'), CONTENT, {}, "fetch_failed", id="lag"),
        pytest.param(saying('{"error": {"code": "ratelimited", "info": ""}}'), CONTENT, {}, "fetch_failed", id="limit"),
        pytest.param(
            saying(GOOD_OF_NONE, Retry_After="5"), CONTENT, {}, "content_refused_by_upstream", id="header against body"
        ),
    ],
)
def test_a_sick_wiki_gets_what_is_in_flight_and_no_more(
    fetching: Any, handler: Any, route: Route, fetch: dict[str, Any], error_type: str
) -> None:
    steps = at_once(*range(30), route=route)
    exchange = fetching(handler, steps, concurrency=3, breaker=BREAKER, fetch=ONCE | fetch)
    found = kinds(exchange.outcomes)
    assert set(found) == {"breaker_open", error_type}
    assert len(exchange.requests) <= found[error_type]
    assert 4 <= found[error_type] <= 4 + 2
    assert all("enwiki" in outcome.message for outcome in exchange.outcomes if kinds([outcome])["breaker_open"])


def test_a_wiki_that_nobody_reaches_is_sick(with_client: Any) -> None:
    sections = {"jitter": CountingJitter(), "breaker": BREAKER, "fetch": ONCE, "concurrency": 3}
    outcomes = asyncio.run(with_client("http://127.0.0.1:1", at_once(*range(30)), **sections))
    assert 4 <= 30 - kinds(outcomes)["breaker_open"] <= 6


@pytest.mark.parametrize(
    ("handler", "route", "fetch"),
    [
        pytest.param(answering(404), HTML, {}, id="404"),
        pytest.param(answering(403), HTML, {}, id="403"),
        pytest.param(answering(400), HTML, {}, id="400"),
        pytest.param(answering(404), HTML, ONCE | {"retried_statuses": [404]}, id="404 that is tried again by choice"),
        pytest.param(saying(BAD_IDS), CONTENT, ONCE, id="unknown revision"),
        # It is asked for again, where it may only be late.
        pytest.param(saying(BAD_IDS), ContentRoute(5, unknown_is_final=False), ONCE, id="revision that may be late"),
        pytest.param(saying('{"error": {"code": "nosuchaction", "info": "no"}}'), CONTENT, ONCE, id="our mistake"),
        pytest.param(saying(GOOD_OF_NONE), CONTENT, ONCE, id="no revisions"),
        # What is read from a spool file may wait for memory, which says nothing of the upstream: it answered.
        pytest.param(saying(UNWELL), CONTENT, ONCE | {"inline_limit": 0}, id="judged before its body is at hand"),
    ],
)
def test_what_is_said_of_a_revision_is_an_answer(
    fetching: Any, handler: Any, route: Route, fetch: dict[str, Any]
) -> None:
    steps = at_once(*range(30), route=route)
    assert len(fetching(handler, steps, breaker=BREAKER, fetch=fetch).requests) == 30


def test_a_sick_wiki_takes_nothing_from_the_others(fetching: Any) -> None:
    async def handler(request: web.Request, _number: int) -> web.Response:
        return web.Response(status=503 if request.headers["Host"] == "de.example" else 200, text="<p>")

    async def steps(client: Any) -> list[Any]:
        wikis = ("enwiki", "dewiki")
        return list(await asyncio.gather(*(client.outcome(n, wiki=wikis[n % 2]) for n in range(60))))

    wikis = {"wikis": {"enwiki": "en.example", "dewiki": "de.example"}}
    exchange = fetching(handler, steps, concurrency=3, breaker=BREAKER, fetch=ONCE, mediawiki=wikis)
    assert kinds(exchange.outcomes[::2]) == {"well": 30}
    assert Counter(request.headers["Host"] for request in exchange.requests)["de.example"] <= 6


def test_a_record_under_way_is_not_tried_again_when_its_wiki_has_opened(fetching: Any) -> None:
    """Its failure is that of its last request."""
    exchange = fetching(answering(503), breaker={"minimum_requests": 2}, fetch={"total_requests": 4})
    assert len(exchange.requests) == 2
    assert exchange.failure.error_type == "fetch_failed"
    assert "status 503" in exchange.failure.message


@pytest.mark.parametrize(
    ("status", "header", "asked_s"),
    [(503, "120", 120.0), (429, "Mon, 02 Mar 2026 09:02:00 GMT", 120.0), (504, "120", 120.0), (503, None, None)],
)
def test_what_the_upstream_asked_for_is_told_where_the_deadline_ends_before(
    fetching: Any, status: int, header: str | None, asked_s: float | None
) -> None:
    handler = answering(status, **({"Retry_After": header} if header else {}))
    exchange = fetching(handler, failing(), fetch={"deadline": "10s"})
    (error,) = exchange.outcomes
    assert (error.transient, error.tried, error.retry_after_s) == (True, True, asked_s)
    assert len(exchange.requests) == (4 if (status, header) == (503, None) else 1)


def test_what_fails_when_the_breaker_is_open_or_was_not_asked_for_was_not_tried(fetching: Any) -> None:
    errors = fetching(answering(503), failing(times=5), breaker=BREAKER, fetch=ONCE).outcomes
    assert [(error.tried, error.transient) for error in errors] == [(True, True)] * 3 + [(False, True)] * 2
    assert {error.wiki_id for error in errors} == {"enwiki"}


def test_many_small_wikis_behind_what_is_down_get_a_few_requests(fetching: Any) -> None:
    """None of them alone has requests enough."""
    names = [f"wiki{number}" for number in range(60)]

    async def steps(client: Any) -> list[Any]:
        return list(await asyncio.gather(*(client.outcome(n, wiki=wiki) for n, wiki in enumerate(names * 3))))

    wikis = {"wikis": {name: f"{name}.example" for name in names}}
    breaker = {"minimum_requests": 20, "minimum_wikis": 5}
    exchange = fetching(answering(503), steps, concurrency=3, breaker=breaker, fetch=ONCE, mediawiki=wikis)
    assert 20 <= len(exchange.requests) <= 20 + 2
    assert kinds(exchange.outcomes)["breaker_open"] == 180 - len(exchange.requests)


def saying_html(status: int, body: bytes, content_type: str = "text/html", **headers: str) -> Callable[..., Any]:
    return answering(status, body=body, Content_Type=content_type, **headers)


ANSWERS = [
    pytest.param(saying_html(200, MAINTENANCE), id="200 maintenance"),
    pytest.param(saying_html(200, MAINTENANCE + b"\xe4"), id="200 in latin-1"),
    pytest.param(saying_html(200, b""), id="200 empty"),
    pytest.param(
        saying_html(200, b'{"httpCode":404,"httpReason":"Not Found"}', "application/json"), id="200 error JSON"
    ),
    pytest.param(saying_html(404, MAINTENANCE), id="404"),
    pytest.param(
        saying_html(404, b'{"httpCode":404,"httpReason":"Not Found"}', "application/json"), id="404 of a gateway"
    ),
    pytest.param(saying_html(403, MAINTENANCE), id="403"),
    pytest.param(saying_html(403, b"x" * 1_000_000, "text/plain"), id="403, long"),
    pytest.param(saying_html(403, b"not gzip", Content_Encoding="gzip"), id="403, broken"),
    pytest.param(saying_html(401, b"Unauthorized", "text/plain"), id="401"),
    pytest.param(saying_html(301, b"", Location="http://127.0.0.1:1/"), id="301"),
    pytest.param(saying_html(413, MAINTENANCE), id="413"),
    pytest.param(saying_html(200, GATEWAY_ERROR, "application/json"), id="200, error.code of a gateway"),
    pytest.param(saying_html(404, GATEWAY_ERROR, "application/json"), id="404, error.code of a gateway"),
]


@pytest.mark.parametrize("handler", ANSWERS)
@pytest.mark.parametrize("route", [HTML, CONTENT], ids=["REST API", "Action API"])
def test_many_answers_of_a_proxy_open_the_breaker(fetching: Any, handler: Any, route: Route) -> None:
    steps = at_once(*range(30), route=route)
    exchange = fetching(handler, steps, proxy=True, concurrency=3, breaker=BREAKER, fetch=ONCE)
    kinds = Counter(failure.error_type for failure in exchange.outcomes)
    assert kinds == {"fetch_failed": len(exchange.requests), "breaker_open": 30 - len(exchange.requests)}
    assert 4 <= len(exchange.requests) <= 4 + 2


@pytest.mark.parametrize("handler", ANSWERS)
def test_an_answer_of_a_proxy_may_be_mediawikis_the_next_time(fetching: Any, handler: Any) -> None:
    exchange = fetching(handler, failing(), proxy=True, fetch={"total_requests": 3})
    (failed,) = exchange.outcomes
    assert (failed.transient, failed.tried, len(exchange.requests)) == (True, True, 3)


PARSOID = '<html prefix="dc: x" about="https://{}/wiki/Special:Redirect/revision/5"><head>'


@pytest.mark.parametrize("revision", [{}, {"Content_Revision_Id": "5"}], ids=["in its head", "and in a header"])
def test_the_same_revision_of_another_wiki_is_not_the_page(fetching: Any, revision: dict[str, str]) -> None:
    """A proxy that loses the Host header asks its default wiki, where nearly every number is a revision, too."""
    wikis = {"enwiki": "en.example", "dewiki": "de.example"}

    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(wiki=wiki) for wiki in wikis]

    handler = saying_html(200, PARSOID.format("DE.example").encode(), **revision)
    of_en, of_de = fetching(handler, steps, fetch=ONCE, mediawiki={"wikis": wikis}).outcomes
    assert of_en.error_type == "fetch_failed"
    assert "status 200, and not MediaWiki's page: it is of DE.example" in of_en.message
    assert of_de.text == PARSOID.format("DE.example")


def test_a_wiki_may_call_itself_by_a_name_that_the_table_does_not_have(fetching: Any) -> None:
    """As one does behind an address of its own, in a test environment."""
    page = PARSOID.format("localhost:8080")
    assert fetching(saying_html(200, page.encode()), fetch=ONCE).html.text == page


WHOLE = b'<html about="https://en.example/wiki/Special:Redirect/revision/5"><body>...</body></html>'
UNBOUNDED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"


def test_a_page_whose_end_only_the_connection_tells_has_to_be_whole(fetching_bytes: Any) -> None:
    """Without a length, chunks or a content coding half a page looks as good as all of it."""
    exchange, requests = fetching_bytes(UNBOUNDED + WHOLE[:70], UNBOUNDED + WHOLE + b"\n")
    assert (exchange.html.text, requests) == (WHOLE.decode() + "\n", 2)
    bounded = UNBOUNDED.replace(b"Connection: close", b"content-length: 70")
    assert fetching_bytes(bounded + WHOLE[:70])[0].html.text == WHOLE[:70].decode(), "as it is what the wiki meant"
    exchange, requests = fetching_bytes(UNBOUNDED + WHOLE[:70], fetch=ONCE)
    assert exchange.failure.message.endswith("status 200, and not MediaWiki's page: it breaks off")


@pytest.mark.parametrize(
    "header",
    [
        "Content-Encoding: identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ],
)
def test_a_coding_that_tells_of_no_end_bounds_no_page(fetching_bytes: Any, header: str) -> None:
    head = UNBOUNDED.replace(b"Connection: close", header.encode())
    exchange, requests = fetching_bytes(head + WHOLE[:70], head + WHOLE)
    assert (exchange.html.text, requests) == (WHOLE.decode(), 2)


def test_chunks_and_gzip_tell_where_a_page_ends(fetching_bytes: Any) -> None:
    chunked = UNBOUNDED.replace(b"Connection: close", b"Transfer-Encoding: Chunked")
    assert fetching_bytes(chunked + b"46\r\n" + WHOLE[:70] + b"\r\n0\r\n\r\n")[0].html.text == WHOLE[:70].decode()
    compressed = UNBOUNDED.replace(b"Connection: close", b"Content-Encoding: GZIP")
    assert fetching_bytes(compressed + gzip.compress(WHOLE[:70]))[0].html.text == WHOLE[:70].decode()
