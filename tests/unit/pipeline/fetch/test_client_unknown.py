"""A revision that its wiki does not know: one request is all, unless `fetch.retry_unknown` has it asked for again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText

AGAIN = {"retry_unknown": {"total_requests": 3, "every": "250ms"}}


def answering(*statuses: int) -> Callable[..., Any]:
    """The n-th request gets the n-th status, later ones the last."""

    async def handler(_request: web.Request, number: int) -> web.Response:
        return web.Response(status=statuses[min(number, len(statuses)) - 1], text="<p>")

    return handler


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


def test_it_is_final_by_default(fetching: Any, pauses: list[float]) -> None:
    exchange = fetching(answering(404, 200))
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == ("revision_not_found", 1, [])


def test_it_is_asked_for_as_often_as_the_policy_says(fetching: Any, pauses: list[float]) -> None:
    exchange = fetching(answering(404), fetch=AGAIN)
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == ("revision_not_found", 3, [0.25, 0.25])
    assert len({request.headers["X-Request-Id"] for request in exchange.requests}) == 1


def test_one_that_appears_is_taken(fetching: Any, pauses: list[float]) -> None:
    exchange = fetching(answering(404, 200), fetch=AGAIN)
    assert (exchange.html, len(exchange.requests), pauses) == (FetchedText("<p>", 3), 2, [0.25])


@pytest.mark.parametrize(("status", "error_type"), [(403, "access_denied"), (413, "content_refused_by_upstream")])
def test_another_final_answer_stays_final(fetching: Any, pauses: list[float], status: int, error_type: str) -> None:
    exchange = fetching(answering(404, status), fetch=AGAIN)
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == (error_type, 2, [0.25])


def test_an_outage_is_none_of_its_business(fetching: Any, pauses: list[float]) -> None:
    exchange = fetching(answering(503), fetch=AGAIN | {"total_requests": 1})
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == ("fetch_failed", 1, [])


def test_it_is_not_waited_for_beyond_the_deadline(fetching: Any, pauses: list[float]) -> None:
    late = {"retry_unknown": {"total_requests": 3, "every": "1h"}}
    exchange = fetching(answering(404), fetch=late)
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == ("revision_not_found", 1, [])
