"""When a fetch is tried again, and when it ends. Requests are counted where they arrive."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText, FetchFailedError
from tests.unit.pipeline.fetch.answers import answering, at_once, never, never_the_first


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect_is_not_followed(fetching: Any, status: int) -> None:
    """MediaWiki redirects no request for a revision."""
    location = "http://127.0.0.1:1/elsewhere"
    exchange = fetching(answering(status, Location=location), fetch={"total_requests": 2})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("fetch_failed", 2)
    assert f"status {status} to '{location}' without MediaWiki's words" in exchange.failure.message


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("/w/rest.php/v1", "to '/w/rest.php/v1' without"),
        ("https://sso.example/login?ticket=s3cret#s3cret", "to 'https://sso.example/login' without"),
        ("https://sso.example/login;jsessionid=s3cret", "to 'https://sso.example/login' without"),
        ("https://user:s3cret@sso.example/", "to 'https://sso.example/' without"),
        ("//user:s3cret;@sso.example/", "to '//sso.example/' without"),
        ("/" + "x" * 5000, f"to '/{'x' * 199}' without"),
        ("/\xff", "to '/\\udcff' without"),
        (None, "status 302 without"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_redirect_names_its_target_without_secrets(fetching_bytes: Any, location: str | None, shown: str) -> None:
    field = b"" if location is None else b"location:" + location.encode("latin-1") + b"\r\n"
    answer = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n" + field + b"\r\n"
    message = fetching_bytes(answer, fetch={"total_requests": 1})[0].failure.message
    assert shown in message
    assert "s3cret" not in message


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_where_it_can_help_it_is_tried_again(fetching: Any, status: int) -> None:
    exchange = fetching(answering(status, status, 200))
    assert exchange.html == FetchedText("<p>", 3)
    assert len(exchange.requests) == 3
    ids = {request.headers["X-Request-Id"] for request in exchange.requests}
    assert len(ids) == 1, "all attempts of a fetch have one id"


@pytest.mark.parametrize(
    ("statuses", "fetch", "error_type", "requests"),
    [
        ([404], {}, "revision_not_found", 1),
        ([403], {}, "access_denied", 1),
        ([413], {}, "content_refused_by_upstream", 1),
        ([400], {}, "upstream_error", 1),
        ([401], {}, "upstream_error", 1),
        ([504], {}, "upstream_error", 1),
        ([501], {}, "upstream_error", 1),
        ([503, 200], {"retried_statuses": [504]}, "upstream_error", 1),
        ([503, 404], {}, "revision_not_found", 2),
        ([503], {"total_requests": 1}, "fetch_failed", 1),
        ([503], {"total_requests": 2}, "fetch_failed", 2),
        ([503], {"total_requests": 4}, "fetch_failed", 4),
    ],
)
def test_a_fetch_fails_after_so_many_requests(
    fetching: Any, statuses: list[int], fetch: dict[str, Any], error_type: str, requests: int
) -> None:
    """A status is tried again where it can help and as often as the total allows, which counts the first request."""
    exchange = fetching(answering(*statuses), fetch=fetch)
    assert exchange.failure.error_type == error_type
    assert f"status {statuses[min(requests, len(statuses)) - 1]}" in exchange.failure.message
    assert len(exchange.requests) == requests


def test_which_statuses_are_retried_is_configuration(fetching: Any) -> None:
    exchange = fetching(answering(504, 200), fetch={"retried_statuses": [504]})
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)


def test_pauses_are_drawn_up_to_a_bound_that_doubles(fetching: Any) -> None:
    exchange = fetching(answering(503), fetch={"total_requests": 4, "backoff": "200ms"})
    assert exchange.jitter.asked == [(0, 0.2), (0, 0.4), (0, 0.8)]


@pytest.mark.parametrize("value", ["0", " 0 ", "Mon, 02 Mar 2026 09:00:00 GMT", "Sun, 01 Mar 2026 09:00:00 GMT"])
def test_told_to_wait_no_time_it_pauses_as_it_would_by_itself(fetching: Any, value: str) -> None:
    exchange = fetching(answering(503, 503, 200, Retry_After=value), fetch={"backoff": "200ms"})
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 3)
    assert exchange.jitter.asked == [(0, 0.2), (0, 0.4)]


@pytest.mark.parametrize("value", [None, "0", "1", "7"])
def test_a_drawn_pause_comes_on_top_of_what_was_asked_for(
    fetching: Any, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    """Those that were refused together were all told the same moment."""
    pauses: list[float] = []
    pause = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await pause(0)

    async def steps(client: Any) -> list[Any]:
        monkeypatch.setattr("pipeline.fetch.client.asyncio.sleep", sleep)
        monkeypatch.setattr(client.jitter, "uniform", lambda _low, high: high / 2)
        return [await client.outcome()]

    named = {} if value is None else {"Retry_After": value}
    fetching(answering(429, **named), steps, fetch={"backoff": "200ms", "total_requests": 3})
    asked_s = float(value or 0)
    assert [one for one in pauses if one] == [asked_s + 0.1, asked_s + 0.2]


@pytest.mark.parametrize("value", ["3600", "9" * 400, "Mon, 02 Mar 2026 10:00:00 GMT"])
def test_retry_after_beyond_the_deadline_ends_it_at_once(fetching: Any, value: str) -> None:
    exchange = fetching(answering(429, Retry_After=value), fetch={"deadline": "30s"})
    assert exchange.failure.error_type == "deadline_exceeded"
    assert "status 429" in exchange.failure.message
    assert len(exchange.requests) == 1


@pytest.mark.parametrize("value", ["soon", "", "-5", "1.5", "\u00b2", "Mon, 02 Mar 2026 10:00:00 +" + "9" * 20])
def test_a_retry_after_that_cannot_be_read_is_as_none(fetching: Any, value: str) -> None:
    """Whatever an upstream writes there, it must not end the job."""
    exchange = fetching(answering(503, 200, Retry_After=value))
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)
    assert len(exchange.jitter.asked) == 1


def test_all_requests_share_one_deadline(fetching: Any) -> None:
    """Each request takes 10 s of a clock of its own: within 25 s a third one may begin, and no fourth."""
    seconds = 0.0

    async def handler(_request: web.Request, _number: int) -> web.Response:
        nonlocal seconds
        seconds += 10
        return web.Response(status=503)

    exchange = fetching(
        handler, clock=lambda: seconds, fetch={"deadline": "25s", "request_timeout": "20s", "total_requests": 9}
    )
    assert exchange.failure.error_type == "deadline_exceeded"
    assert "status 503" in exchange.failure.message
    assert len(exchange.requests) == 3


@pytest.mark.parametrize(
    ("fetch", "error_type", "says", "requests"),
    [
        ({"deadline": "100ms"}, "deadline_exceeded", "no answer before the deadline", 1),
        ({"request_timeout": "50ms", "total_requests": 2}, "fetch_failed", "no answer within 0.05 s", 2),
    ],
    ids=["with the deadline", "with the time limit of a request"],
)
def test_an_answer_that_never_comes_ends(
    fetching: Any, fetch: dict[str, Any], error_type: str, says: str, requests: int
) -> None:
    exchange = fetching(never, fetch=fetch)
    assert (exchange.failure.error_type, len(exchange.requests)) == (error_type, requests)
    assert says in exchange.failure.message


def test_a_body_that_never_ends_ends_with_the_deadline(fetching: Any) -> None:
    async def handler(request: web.Request, _number: int) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"<p>")
        await asyncio.Event().wait()
        raise AssertionError

    exchange = fetching(handler, fetch={"deadline": "100ms"})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("deadline_exceeded", 1)


@pytest.mark.parametrize(
    ("fetch", "error_type"),
    [
        ({"deadline": "300ms"}, "deadline_exceeded"),
        ({"request_timeout": "200ms", "total_requests": 1}, "fetch_failed"),
    ],
    ids=["deadline of a record", "time limit of a request"],
)
def test_a_time_begins_with_the_request_and_not_with_the_wait_for_a_slot(
    fetching: Any, fetch: dict[str, Any], error_type: str
) -> None:
    """One slot, held by a request without an answer; the second record is not to blame for that."""
    first, second = fetching(never_the_first, at_once(5, 6), concurrency=1, fetch=fetch).outcomes
    assert first.error_type == error_type
    assert second == FetchedText("<p>", 3)


def test_waiting_for_another_slot_is_part_of_the_deadline(fetching: Any) -> None:
    """Both requests of one record: the second waits behind the first, whose answer never comes."""

    async def steps(client: Any) -> list[Any]:
        deadline = client.html.deadline(0.15)
        return await asyncio.gather(client.outcome(5, deadline=deadline), client.outcome(6, deadline=deadline))

    exchange = fetching(never, steps, concurrency=1)
    assert [failure.error_type for failure in exchange.outcomes] == ["deadline_exceeded"] * 2
    assert len(exchange.requests) == 1


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_at_once_than_slots(fetching: Any, concurrency: int) -> None:
    open_now = most = 0
    turn = asyncio.Event()

    async def handler(_request: web.Request, _number: int) -> web.Response:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        if open_now == concurrency:
            turn.set()
        await turn.wait()
        open_now -= 1
        return web.Response(text="<p>")

    exchange = fetching(handler, at_once(*range(1, 10)), concurrency=concurrency)
    assert [outcome.text for outcome in exchange.outcomes] == ["<p>"] * 9
    assert most == concurrency


def test_a_fetch_that_is_cancelled_gives_its_slot_back(fetching: Any) -> None:
    asked = asyncio.Event()

    async def handler(request: web.Request, number: int) -> web.Response:
        asked.set()
        return await never_the_first(request, number)

    async def steps(client: Any) -> list[Any]:
        first = asyncio.create_task(client.outcome())
        await asked.wait()
        first.cancel()
        return [await client.outcome()]

    assert fetching(handler, steps, concurrency=1).html.text == "<p>"


def test_the_retry_budget_is_shared_by_all_fetches_of_a_worker(fetching: Any) -> None:
    """Twenty records of an upstream that always fails: without a budget 80 requests, with one of 3 retries 23."""

    steps = at_once(*range(1, 21))
    budget = {"retry_budget": {"share": 0, "burst": 3}}
    exchange = fetching(answering(503), steps, fetch={"backoff": "0ms"} | budget)
    assert len(exchange.requests) == 23
    assert {failure.error_type for failure in exchange.outcomes} == {"fetch_failed"}
    without = fetching(answering(503), steps, fetch={"backoff": "0ms", "retry_budget": "none"})
    assert len(without.requests) == 80


def test_every_first_request_earns_its_share_of_a_retry(fetching: Any) -> None:
    """Every fifth record fails once: a share of 0.25 is enough, as those that go well earn theirs too."""

    async def handler(request: web.Request, _number: int) -> web.Response:
        rev_id = int(request.path.split("/")[-2])
        failed.append(rev_id) if (first := rev_id % 5 == 0 and rev_id not in failed) else None
        return web.Response(status=503 if first else 200, text="<p>")

    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(number) for number in range(1, 51)]

    failed: list[int] = []
    budget = {"retry_budget": {"share": 0.25, "burst": 1}}
    exchange = fetching(handler, steps, fetch={"backoff": "0ms"} | budget)
    assert set(exchange.outcomes) == {FetchedText("<p>", 3)}
    assert len(exchange.requests) == 60


@pytest.mark.parametrize(
    ("handler", "transient"),
    [
        *((answering(status), False) for status in (404, 403, 413, 400)),
        *((answering(status), True) for status in (302, 204, 504, 501)),
        (never, True),
    ],
    ids=["404", "403", "413", "400", "302", "204", "504", "501", "no answer"],
)
def test_what_may_succeed_later_is_told_from_what_never_will(fetching: Any, handler: Any, transient: bool) -> None:
    async def steps(client: Any) -> list[Any]:
        deadline = client.html.deadline(0.05 if handler is never else 20)
        with pytest.raises(FetchFailedError) as raised:
            await client.html.fetch("enwiki", 5, request_id="id", deadline=deadline)
        return [raised.value]

    (failed,) = fetching(handler, steps).outcomes
    assert failed.transient is transient
