"""When a fetch is tried again, and when it ends. Requests are counted where they arrive."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText
from pipeline.metrics.catalogue import RESPONSES
from pipeline.metrics.worker_metrics import RECORDER
from tests.unit.pipeline.fetch.answers import answering, at_once, failing, in_turn, never

NEVER_THE_FIRST = in_turn(never, answering(200))
UNTIL_10_00 = "Mon, 02 Mar 2026 10:00:00 GMT"
ELSEWHERE = "http://127.0.0.1:1/elsewhere"
NOT_THERE = f" to '{ELSEWHERE}' without MediaWiki's words"
ONCE = {"total_requests": 1}
TWICE = {"total_requests": 2}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client slept, in seconds; it does not really."""
    slept: list[float] = []
    pause = asyncio.sleep

    async def sleep(seconds: float) -> None:
        if seconds:
            slept.append(seconds)
        await pause(0)

    monkeypatch.setattr("pipeline.fetch.client.asyncio.sleep", sleep)
    return slept


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
    message = fetching_bytes(answer, fetch=ONCE)[0].failure.message
    assert shown in message
    assert "s3cret" not in message


async def endless(request: web.Request, _number: int) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"<p>")
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("handler", "fetch", "error_type", "says", "requests", "transient"),
    [
        (answering(404), {}, "revision_not_found", "status 404", 1, False),
        (answering(403), {}, "access_denied", "status 403", 1, False),
        (answering(413), {}, "content_refused_by_upstream", "status 413", 1, False),
        (answering(400), {}, "upstream_error", "status 400", 1, False),
        (answering(401), {}, "upstream_error", "status 401", 1, False),
        (answering(504), {}, "upstream_error", "status 504", 1, True),
        (answering(501), {}, "upstream_error", "status 501", 1, True),
        (answering(204), {}, "fetch_failed", "status 204", 4, True),
        (answering(301, Location=ELSEWHERE), TWICE, "fetch_failed", "status 301" + NOT_THERE, 2, True),
        (answering(302, Location=ELSEWHERE), TWICE, "fetch_failed", "status 302" + NOT_THERE, 2, True),
        (answering(307, Location=ELSEWHERE), TWICE, "fetch_failed", "status 307" + NOT_THERE, 2, True),
        (answering(503, 200), {"retried_statuses": [504]}, "upstream_error", "status 503", 1, True),
        (answering(503, 404), {}, "revision_not_found", "status 404", 2, False),
        (answering(503), ONCE, "fetch_failed", "status 503", 1, True),
        (answering(503), TWICE, "fetch_failed", "status 503", 2, True),
        (answering(503), {"total_requests": 4}, "fetch_failed", "status 503", 4, True),
        (answering(429, Retry_After="3600"), {"deadline": "30s"}, "deadline_exceeded", "status 429", 1, True),
        (answering(429, Retry_After="9" * 400), {"deadline": "30s"}, "deadline_exceeded", "status 429", 1, True),
        (answering(429, Retry_After=UNTIL_10_00), {"deadline": "30s"}, "deadline_exceeded", "status 429", 1, True),
        (never, {"deadline": "100ms"}, "deadline_exceeded", "no answer before the deadline", 1, True),
        (never, TWICE | {"request_timeout": "300ms"}, "fetch_failed", "no answer within 0.3 s", 2, True),
        (endless, {"deadline": "100ms"}, "deadline_exceeded", "no answer before the deadline", 1, True),
    ],
    ids=[
        *("404", "403", "413", "400", "401", "504", "501", "204"),
        *("301 is not followed", "302 is not followed", "307 is not followed"),
        "503 where only 504 is retried",
        "404 after 503",
        *("one request in all", "two in all", "four in all"),
        *("asked to wait an hour", "to wait for ever", "to wait until a date"),
        *("no answer before the deadline", "no answer in the time of a request", "a body without end"),
    ],
)
def test_a_fetch_fails_after_so_many_requests(
    fetching: Any, handler: Any, fetch: dict[str, Any], error_type: str, says: str, requests: int, transient: bool
) -> None:
    """It is tried again where it can help and as often as the total allows, which counts the first request; what may
    succeed later is told from what never will. MediaWiki redirects no request for a revision.
    """
    exchange = fetching(handler, failing(), fetch=fetch)
    (error,) = exchange.outcomes
    assert (error.failure.error_type, len(exchange.requests), error.transient) == (error_type, requests, transient)
    assert says in error.failure.message


@pytest.mark.parametrize(
    ("statuses", "retry_after", "fetch"),
    [
        *(([status, status, 200], None, {}) for status in (408, 429, 500, 502, 503)),
        ([504, 200], None, {"retried_statuses": [504]}),
        # No time to wait
        *(([503, 503, 200], value, {}) for value in ("0", " 0 ", "Mon, 02 Mar 2026 09:00:00 GMT")),
        ([503, 503, 200], "Sun, 01 Mar 2026 09:00:00 GMT", {}),
        # What cannot be read must not end the job
        *(([503, 200], value, {}) for value in ("soon", "", "-5", "1.5", "\u00b2")),
        ([503, 200], "Mon, 02 Mar 2026 10:00:00 +" + "9" * 20, {}),
    ],
)
def test_where_it_can_help_it_is_tried_again_after_a_drawn_pause(
    fetching: Any, statuses: list[int], retry_after: str | None, fetch: dict[str, Any]
) -> None:
    handler = answering(*statuses, **({} if retry_after is None else {"Retry_After": retry_after}))
    exchange = fetching(handler, fetch={"backoff": "200ms"} | fetch)
    assert exchange.html == FetchedText("<p>", 3)
    assert len(exchange.requests) == len(statuses)
    assert exchange.jitter.asked == [(0, 0.2), (0, 0.4)][: len(statuses) - 1]
    assert len({request.headers["X-Request-Id"] for request in exchange.requests}) == 1, "one id for all attempts"


def test_pauses_are_drawn_up_to_a_bound_that_doubles(fetching: Any) -> None:
    exchange = fetching(answering(503), fetch={"total_requests": 4, "backoff": "200ms"})
    assert exchange.jitter.asked == [(0, 0.2), (0, 0.4), (0, 0.8)]


@pytest.mark.parametrize("value", [None, "0", "1", "7"])
def test_a_drawn_pause_comes_on_top_of_what_was_asked_for(
    fetching: Any, monkeypatch: pytest.MonkeyPatch, pauses: list[float], value: str | None
) -> None:
    """Those that were refused together were all told the same moment."""

    async def steps(client: Any) -> list[Any]:
        monkeypatch.setattr(client.jitter, "uniform", lambda _low, high: high / 2)
        return [await client.outcome()]

    named = {} if value is None else {"Retry_After": value}
    fetching(answering(429, **named), steps, fetch={"backoff": "200ms", "total_requests": 3})
    asked_s = float(value or 0)
    assert pauses == [asked_s + 0.1, asked_s + 0.2]


AGAIN = {"retry_unknown": {"total_requests": 3, "every": "250ms"}}


@pytest.mark.parametrize(
    ("statuses", "fetch", "outcome", "paused"),
    [
        pytest.param([404, 200], {}, "revision_not_found", [], id="by default it is final"),
        pytest.param([404], AGAIN, "revision_not_found", [0.25, 0.25], id="asked for as often as the policy says"),
        pytest.param([404, 403], AGAIN, "access_denied", [0.25], id="another final answer stays final"),
        pytest.param([404, 413], AGAIN, "content_refused_by_upstream", [0.25], id="so does this one"),
        pytest.param([404, 200], AGAIN, None, [0.25], id="one that appears is taken"),
        pytest.param([503], AGAIN | ONCE, "fetch_failed", [], id="an outage is none of its business"),
        pytest.param(
            [404],
            {"retry_unknown": {"total_requests": 3, "every": "1h"}},
            "revision_not_found",
            [],
            id="it is not waited for beyond the deadline",
        ),
    ],
)
def test_an_unknown_revision_is_asked_for_again_where_the_policy_says_so(
    fetching: Any,
    pauses: list[float],
    statuses: list[int],
    fetch: dict[str, Any],
    outcome: str | None,
    paused: list[float],
) -> None:
    exchange = fetching(answering(*statuses), fetch=fetch)
    ended = exchange.outcome
    assert (ended == FetchedText("<p>", 3)) if outcome is None else (ended.error_type == outcome)
    assert (len(exchange.requests), pauses) == (len(paused) + 1, paused)
    assert len({request.headers["X-Request-Id"] for request in exchange.requests}) == 1


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
    ("fetch", "error_type"),
    [
        pytest.param({"deadline": "300ms"}, "deadline_exceeded", id="deadline of a record"),
        pytest.param(ONCE | {"request_timeout": "200ms"}, "fetch_failed", id="time limit of a request"),
    ],
)
def test_no_time_begins_with_the_wait_for_a_slot(fetching: Any, fetch: dict[str, Any], error_type: str) -> None:
    """One slot, held by a request without an answer; the second record is not to blame for that."""
    first, second = fetching(NEVER_THE_FIRST, at_once(5, 6), concurrency=1, fetch=fetch).outcomes
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

    async def handler(request: web.Request, number: int) -> Any:
        asked.set()
        return await NEVER_THE_FIRST(request, number)

    async def steps(client: Any) -> list[Any]:
        first = asyncio.create_task(client.outcome())
        await asked.wait()
        first.cancel()
        return [await client.outcome()]

    assert fetching(handler, steps, concurrency=1).html.text == "<p>"


@pytest.mark.parametrize(("budget", "requests"), [({"share": 0, "burst": 3}, 23), ("none", 80)])
def test_the_retry_budget_is_shared_by_all_fetches_of_a_worker(fetching: Any, budget: Any, requests: int) -> None:
    """Twenty records of an upstream that always fails."""
    fetch = {"backoff": "0ms", "retry_budget": budget}
    exchange = fetching(answering(503), at_once(*range(1, 21)), fetch=fetch)
    assert len(exchange.requests) == requests
    assert {failure.error_type for failure in exchange.outcomes} == {"fetch_failed"}


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


def test_responses_are_counted_by_status(fetching: Any) -> None:
    RECORDER.drain()
    fetching(answering(503, 404))
    counts = RECORDER.drain().counts
    assert {labels: by for (name, labels), by in counts.items() if name == RESPONSES.name} == {("503",): 1, ("404",): 1}
