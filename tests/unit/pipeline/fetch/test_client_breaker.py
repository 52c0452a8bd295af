"""What the client makes of a wiki that is unwell: how many requests still arrive, and what becomes of the others."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchFailedError
from pipeline.jobs.content import ContentRoute
from pipeline.records.error_event import Failure
from tests.unit.pipeline.fetch.answers import answering, at_once, never, saying

BREAKER = {"minimum_requests": 4, "trial_requests": 1}
ONCE = {"total_requests": 1}


many = at_once(*range(30))


def kinds(outcomes: list[Any]) -> Counter[str]:
    return Counter(outcome.error_type if isinstance(outcome, Failure) else "well" for outcome in outcomes)


@pytest.mark.parametrize("status", [500, 503, 504, 429])
def test_a_sick_wiki_gets_what_is_in_flight_and_no_more(fetching: Any, status: int) -> None:
    exchange = fetching(answering(status), many, concurrency=3, breaker=BREAKER, fetch=ONCE)
    assert 4 <= len(exchange.requests) <= 4 + 2
    found = kinds(exchange.outcomes)
    assert found["breaker_open"] == 30 - len(exchange.requests)
    assert all("enwiki" in outcome.message for outcome in exchange.outcomes if outcome.error_type == "breaker_open")


def test_a_wiki_that_does_not_answer_is_sick(fetching: Any) -> None:
    fetch = ONCE | {"request_timeout": "50ms"}
    exchange = fetching(never, many, concurrency=3, breaker=BREAKER, fetch=fetch)
    assert 4 <= len(exchange.requests) <= 4 + 2


def test_a_deadline_that_passes_without_an_answer_counts_too(fetching: Any) -> None:
    exchange = fetching(never, many, concurrency=3, breaker=BREAKER, fetch=ONCE | {"deadline": "50ms"})
    assert 4 <= len(exchange.requests) <= 4 + 2
    assert kinds(exchange.outcomes)["deadline_exceeded"] == len(exchange.requests)


def test_a_wiki_that_nobody_reaches_is_sick(with_client: Any) -> None:
    from tests.unit.pipeline.fetch.conftest import CountingJitter

    run = with_client("http://127.0.0.1:1", many, jitter=CountingJitter(), breaker=BREAKER, fetch=ONCE, concurrency=3)
    assert 4 <= 30 - kinds(asyncio.run(run))["breaker_open"] <= 6


@pytest.mark.parametrize(
    ("status", "fetch"), [(404, {}), (403, {}), (400, {}), (404, ONCE | {"retried_statuses": [404]})]
)
def test_what_does_not_exist_is_an_answer_as_good_as_any(fetching: Any, status: int, fetch: dict[str, Any]) -> None:
    """Also where it is tried again by choice."""
    assert len(fetching(answering(status), many, breaker=BREAKER, fetch=fetch).requests) == 30


def test_an_answer_that_asks_to_come_later_is_a_failure_though_its_status_is_well(fetching: Any) -> None:
    """So does MediaWiki when its replicas lag."""
    exchange = fetching(answering(200, Retry_After="5"), many, concurrency=3, breaker=BREAKER, fetch=ONCE)
    assert len(exchange.requests) <= 4 + 2
    assert kinds(exchange.outcomes)["breaker_open"] >= 30 - 6


GOOD_OF_NONE = '{"query": {"pages": [{"revisions": []}]}}'


@pytest.mark.parametrize("code", ["internal_api_error_DBQueryError", "maxlag", "ratelimited"])
def test_an_outage_that_a_body_of_status_200_tells_of_is_one(fetching: Any, code: str) -> None:
    body = f'{{"error": {{"code": "{code}", "info": "unwell"}}}}'
    steps = at_once(*range(30), route=ContentRoute(5, unknown_is_final=True))
    exchange = fetching(saying(body), steps, concurrency=3, breaker=BREAKER, fetch=ONCE)
    assert 4 <= len(exchange.requests) <= 4 + 2
    assert kinds(exchange.outcomes)["breaker_open"] == 30 - len(exchange.requests)


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"query": {"badrevids": {str(number): {} for number in range(30)}}}),
        '{"error": {"code": "nosuchaction", "info": "no"}}',
    ],
)
def test_what_a_body_says_of_the_revision_alone_is_an_answer(fetching: Any, body: str, *, final: bool) -> None:
    """Though an unknown revision is asked for again, where it may only be late."""
    steps = at_once(*range(30), route=ContentRoute(5, unknown_is_final=final))
    exchange = fetching(saying(body), steps, breaker=BREAKER, fetch=ONCE)
    assert len(exchange.requests) == 30


@pytest.mark.parametrize("asks_to_wait", [True, False])
def test_the_header_counts_whatever_the_body_says(fetching: Any, *, asks_to_wait: bool) -> None:
    handler = saying(GOOD_OF_NONE, **({"Retry_After": "5"} if asks_to_wait else {}))
    steps = at_once(*range(30), route=ContentRoute(5, unknown_is_final=True))
    exchange = fetching(handler, steps, concurrency=3, breaker=BREAKER, fetch=ONCE)
    assert (len(exchange.requests) < 30) == asks_to_wait


def test_a_body_that_is_not_at_hand_has_been_judged_before_it_is_waited_for(fetching: Any) -> None:
    """What is read from a spool file may wait for memory, which says nothing of the upstream: it answered."""
    body = '{"error": {"code": "internal_api_error_DBQueryError", "info": "unwell"}}'
    steps = at_once(*range(30), route=ContentRoute(5, unknown_is_final=True))
    fetch = ONCE | {"inline_limit": 0}
    exchange = fetching(saying(body), steps, concurrency=3, breaker=BREAKER, fetch=fetch)
    assert len(exchange.requests) == 30


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


def failing(**fields: Any) -> tuple[Any, list[FetchFailedError]]:
    errors: list[FetchFailedError] = []

    async def steps(client: Any) -> list[Any]:
        for _ in range(fields.get("times", 1)):
            try:
                await client.html.fetch("enwiki", 5, request_id="r", deadline=client.html.deadline(client.limit_s))
            except FetchFailedError as error:
                errors.append(error)
        return []

    return steps, errors


@pytest.mark.parametrize(
    ("status", "header", "asked_s"),
    [(503, "120", 120.0), (429, "Mon, 02 Mar 2026 09:02:00 GMT", 120.0), (504, "120", 120.0), (503, None, None)],
)
def test_what_the_upstream_asked_for_is_told_where_the_deadline_ends_before(
    fetching: Any, status: int, header: str | None, asked_s: float | None
) -> None:
    steps, errors = failing()
    handler = answering(status, **({"Retry_After": header} if header else {}))
    exchange = fetching(handler, steps, fetch={"deadline": "10s"})
    (error,) = errors
    assert (error.transient, error.tried, error.retry_after_s) == (True, True, asked_s)
    assert len(exchange.requests) == (4 if (status, header) == (503, None) else 1)


def test_what_fails_when_the_breaker_is_open_or_was_not_asked_for_was_not_tried(fetching: Any) -> None:
    steps, errors = failing(times=5)
    fetching(answering(503), steps, breaker=BREAKER, fetch=ONCE)
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
