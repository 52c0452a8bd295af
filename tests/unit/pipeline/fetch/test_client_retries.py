"""When a fetch is tried again, and when it ends. Requests are counted where they arrive."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText, FetchFailedError


def answering(*statuses: int, **headers: str) -> Callable[..., Any]:
    """The n-th request gets the n-th status, later ones the last."""

    async def handler(_request: web.Request, number: int) -> web.Response:
        status = statuses[min(number, len(statuses)) - 1]
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text="<p>", headers=named)

    return handler


async def never(_request: web.Request, _number: int) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("status", "error_type"),
    [
        (404, "revision_not_found"),
        (403, "access_denied"),
        (413, "content_refused_by_upstream"),
        (400, "upstream_error"),
        (401, "upstream_error"),
        (504, "upstream_error"),
        (501, "upstream_error"),
    ],
)
def test_where_trying_again_cannot_help_one_request_is_all(fetching: Any, status: int, error_type: str) -> None:
    exchange = fetching(answering(status))
    assert exchange.failure.error_type == error_type
    assert f"status {status}" in exchange.failure.message
    assert len(exchange.requests) == 1


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


@pytest.mark.parametrize("total", [1, 2, 4])
def test_the_total_counts_all_requests_and_not_the_retries(fetching: Any, total: int) -> None:
    exchange = fetching(answering(503), fetch={"total_requests": total})
    assert exchange.failure.error_type == "fetch_failed"
    assert "revision 5 of enwiki: status 503" in exchange.failure.message
    assert len(exchange.requests) == total


def test_a_final_status_after_a_retried_one_ends_it(fetching: Any) -> None:
    exchange = fetching(answering(503, 404))
    assert (exchange.failure.error_type, len(exchange.requests)) == ("revision_not_found", 2)


def test_which_statuses_are_retried_is_configuration(fetching: Any) -> None:
    exchange = fetching(answering(504, 200), fetch={"retried_statuses": [504]})
    assert (exchange.html.text, len(exchange.requests)) == ("<p>", 2)
    assert fetching(answering(503, 200), fetch={"retried_statuses": [504]}).failure.error_type == "upstream_error"


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


def test_an_answer_that_never_comes_ends_with_the_deadline(fetching: Any) -> None:
    exchange = fetching(never, fetch={"deadline": "100ms"})
    assert exchange.failure.error_type == "deadline_exceeded"
    assert "no answer before the deadline" in exchange.failure.message
    assert len(exchange.requests) == 1


def test_a_body_that_never_ends_ends_with_the_deadline(fetching: Any) -> None:
    async def handler(request: web.Request, _number: int) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"<p>")
        await asyncio.Event().wait()
        raise AssertionError

    exchange = fetching(handler, fetch={"deadline": "100ms"})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("deadline_exceeded", 1)


def test_a_request_has_a_time_limit_of_its_own_within_the_deadline(fetching: Any) -> None:
    exchange = fetching(never, fetch={"request_timeout": "50ms", "total_requests": 2})
    assert exchange.failure.error_type == "fetch_failed"
    assert "no answer within 0.05 s" in exchange.failure.message
    assert len(exchange.requests) == 2


def test_the_deadline_of_a_record_begins_with_its_first_request(fetching: Any) -> None:
    """One slot, held until its deadline by a request without an answer; the second record is not to blame for that."""

    async def handler(request: web.Request, number: int) -> web.Response:
        return await never(request, number) if number == 1 else web.Response(text="<p>")

    async def steps(client: Any) -> list[Any]:
        return await asyncio.gather(client.outcome(5), client.outcome(6))

    exchange = fetching(handler, steps, concurrency=1, fetch={"deadline": "300ms"})
    first, second = exchange.outcomes
    assert first.error_type == "deadline_exceeded"
    assert second == FetchedText("<p>", 3)


def test_waiting_for_another_slot_is_part_of_the_deadline(fetching: Any) -> None:
    """Both requests of one record: the second waits behind the first, whose answer never comes."""

    async def steps(client: Any) -> list[Any]:
        deadline = client.html.deadline(0.15)
        return await asyncio.gather(client.outcome(5, deadline=deadline), client.outcome(6, deadline=deadline))

    exchange = fetching(never, steps, concurrency=1)
    assert [failure.error_type for failure in exchange.outcomes] == ["deadline_exceeded"] * 2
    assert len(exchange.requests) == 1


def test_waiting_for_a_slot_is_no_part_of_a_requests_own_time_limit(fetching: Any) -> None:
    """The second waits for as long as a request may take, since the first is never answered; then it has its turn."""

    async def handler(request: web.Request, number: int) -> web.Response:
        return await never(request, number) if number == 1 else web.Response(text="<p>")

    async def steps(client: Any) -> list[Any]:
        return await asyncio.gather(client.outcome(5), client.outcome(6))

    exchange = fetching(handler, steps, concurrency=1, fetch={"request_timeout": "200ms", "total_requests": 1})
    first, second = exchange.outcomes
    assert first.error_type == "fetch_failed"
    assert second == FetchedText("<p>", 3)


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

    async def steps(client: Any) -> list[Any]:
        return await asyncio.gather(*(client.outcome(number) for number in range(1, 10)))

    exchange = fetching(handler, steps, concurrency=concurrency)
    assert [outcome.text for outcome in exchange.outcomes] == ["<p>"] * 9
    assert most == concurrency


def test_a_fetch_that_is_cancelled_gives_its_slot_back(fetching: Any) -> None:
    asked = asyncio.Event()

    async def handler(request: web.Request, number: int) -> web.Response:
        if number == 1:
            asked.set()
            return await never(request, number)
        return web.Response(text="<p>")

    async def steps(client: Any) -> list[Any]:
        first = asyncio.create_task(client.outcome())
        await asked.wait()
        first.cancel()
        return [await client.outcome()]

    assert fetching(handler, steps, concurrency=1).html.text == "<p>"


def test_the_retry_budget_is_shared_by_all_fetches_of_a_worker(fetching: Any) -> None:
    """Twenty records of an upstream that always fails: without a budget 80 requests, with one of 3 retries 23."""

    async def steps(client: Any) -> list[Any]:
        return await asyncio.gather(*(client.outcome(number) for number in range(1, 21)))

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
    ("status", "transient"),
    [(404, False), (403, False), (413, False), (400, False), (302, True), (204, True), (504, True), (501, True)],
)
def test_what_may_succeed_later_is_told_from_what_never_will(fetching: Any, status: int, transient: bool) -> None:
    async def steps(client: Any) -> list[Any]:
        with pytest.raises(FetchFailedError) as raised:
            await client.html.fetch("enwiki", 5, request_id="id", deadline=client.html.deadline(20))
        return [raised.value]

    (failed,) = fetching(answering(status), steps).outcomes
    assert failed.transient is transient


def test_an_answer_that_never_comes_may_come_later(fetching: Any) -> None:
    async def steps(client: Any) -> list[Any]:
        with pytest.raises(FetchFailedError) as raised:
            await client.html.fetch("enwiki", 5, request_id="id", deadline=client.html.deadline(0.05))
        return [raised.value]

    (failed,) = fetching(never, steps).outcomes
    assert failed.transient
