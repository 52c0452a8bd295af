"""A revision that its wiki does not know: one request is all, unless `fetch.retry_unknown` has it asked for again."""

import asyncio
from typing import Any

import pytest

from pipeline.fetch.client import FetchedText
from tests.unit.pipeline.fetch.answers import answering

AGAIN = {"retry_unknown": {"total_requests": 3, "every": "250ms"}}


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
    ("statuses", "fetch", "error_type", "paused"),
    [
        ([404, 200], {}, "revision_not_found", []),
        ([404], AGAIN, "revision_not_found", [0.25, 0.25]),
        ([404, 403], AGAIN, "access_denied", [0.25]),
        ([404, 413], AGAIN, "content_refused_by_upstream", [0.25]),
        ([503], AGAIN | {"total_requests": 1}, "fetch_failed", []),
        ([404], {"retry_unknown": {"total_requests": 3, "every": "1h"}}, "revision_not_found", []),
    ],
    ids=[
        "by default it is final",
        "asked for as often as the policy says",
        "another final answer stays final",
        "so does this one",
        "an outage is none of its business",
        "it is not waited for beyond the deadline",
    ],
)
def test_it_is_asked_for_again_where_the_policy_says_so(
    fetching: Any,
    pauses: list[float],
    statuses: list[int],
    fetch: dict[str, Any],
    error_type: str,
    paused: list[float],
) -> None:
    exchange = fetching(answering(*statuses), fetch=fetch)
    assert (exchange.failure.error_type, len(exchange.requests), pauses) == (error_type, len(paused) + 1, paused)
    assert len({request.headers["X-Request-Id"] for request in exchange.requests}) == 1


def test_one_that_appears_is_taken(fetching: Any, pauses: list[float]) -> None:
    exchange = fetching(answering(404, 200), fetch=AGAIN)
    assert (exchange.html, len(exchange.requests), pauses) == (FetchedText("<p>", 3), 2, [0.25])
