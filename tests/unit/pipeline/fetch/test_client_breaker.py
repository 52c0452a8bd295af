"""What the client makes of a wiki that is unwell: how many requests still arrive, and what becomes of the others."""

import asyncio
import json
from collections import Counter
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
