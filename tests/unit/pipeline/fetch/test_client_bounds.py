"""The client within its bounds: connections, bytes of the records that have not left."""

import asyncio
import gzip
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText, WikiClient
from tests.unit.pipeline.fetch.answers import answering

SMALL = {"max_in_flight_bytes": 1000, "inline_limit": 100}


def in_flight(client: Any) -> Any:
    html: WikiClient = client.html
    return html._in_flight


def page(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Revision-Id: 5\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


thousand = answering(200, body="a" * 1000)


@pytest.mark.parametrize(("connections", "fewest", "most"), [("kept", 1, 2), ("per_request", 8, 8)])
def test_a_connection_carries_one_request_or_all(fetching: Any, connections: str, fewest: int, most: int) -> None:
    peers: set[Any] = set()

    async def handler(request: web.Request, _number: int) -> web.Response:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response(text="<p>")

    async def steps(client: Any) -> list[Any]:
        return [one for _ in range(4) for one in await asyncio.gather(client.outcome(5), client.outcome(6))]

    exchange = fetching(handler, steps, concurrency=2, fetch={"connections": connections})
    assert exchange.outcomes == [FetchedText("<p>", 3)] * 8
    assert fewest <= len(peers) <= most


def test_a_record_holds_what_was_fetched_for_it_until_it_leaves(fetching: Any) -> None:
    async def steps(client: Any) -> list[Any]:
        bound = in_flight(client)
        await client.outcome()
        assert bound.memory_bytes == 0, "a fetch by itself holds nothing when it has ended"
        with bound.record():
            outcomes = list(await asyncio.gather(client.outcome(5), client.outcome(6)))
            assert (bound.memory_bytes, bound.spooled_bytes) == (2000, 0)
        assert bound.memory_bytes == 0
        return outcomes

    assert fetching(thousand, steps, fetch=SMALL).outcomes == [FetchedText("a" * 1000, 1000)] * 2


@pytest.mark.parametrize(
    ("coding", "asked_for", "bound", "is_kept"),
    [
        ("gzip", True, 2000, True),
        ("gzip", False, 2000, False),
        ("identity", True, 2000, False),
        ("gzip", True, 1, False),
    ],
    ids=["as it came", "not asked for", "not compressed", "no room"],
)
def test_a_body_is_kept_as_it_was_sent(fetching: Any, coding: str, asked_for: bool, bound: int, is_kept: bool) -> None:
    text = "ä" * 500
    sent = gzip.compress(text.encode())
    failing = gzip.compress(b"<p>") + b"no gzip"

    async def handler(_request: web.Request, number: int) -> web.Response:
        if coding == "identity":
            return web.Response(text=text)
        return web.Response(body=sent if number > 1 else failing, headers={"Content-Encoding": "gzip"})

    async def steps(client: Any) -> list[Any]:
        held = in_flight(client)
        with held.record():
            outcome = await client.outcome(compressed=asked_for)
            assert held.memory_bytes + held.spooled_bytes == 1000 + (len(sent) if is_kept else 0)
        return [outcome]

    fetch = {"max_in_flight_bytes": bound, "inline_limit": 1000, "backoff": "0s"}
    html = fetching(handler, steps, fetch=fetch).html
    assert html.text == text
    assert html.compressed == (sent if is_kept else None)


def test_without_a_bound_all_bodies_are_in_memory_at_once(fetching: Any) -> None:
    """None of the records has left, and with a bound of one body the others would wait for the first."""

    async def steps(client: Any) -> list[Any]:
        bound, all_there = in_flight(client), asyncio.Barrier(5)

        async def record(number: int) -> Any:
            with bound.record():
                outcome = await client.outcome(number)
                await all_there.wait()
                assert (bound.memory_bytes, bound.spooled_bytes) == (5000, 0)
                await all_there.wait()
            return outcome

        return list(await asyncio.gather(*map(record, range(1, 6))))

    unbounded = SMALL | {"max_in_flight_bytes": "none"}
    assert fetching(thousand, steps, fetch=unbounded).outcomes == [FetchedText("a" * 1000, 1000)] * 5


def test_a_body_that_waits_for_room_has_no_slot_and_no_deadline(fetching: Any) -> None:
    """The eldest record keeps what it has beyond the deadline of the second, whose body is there in time."""

    async def steps(client: Any) -> list[Any]:
        bound = in_flight(client)
        with bound.record():
            first = await client.outcome(5)

            async def second() -> Any:
                with bound.record():
                    return await client.outcome(6, deadline=client.html.deadline(0.2))

            task = asyncio.create_task(second())
            await asyncio.sleep(0)  # it begins, and the third is behind it
            third = await client.outcome(404)
            assert bound.spooled_bytes == 1000
            await asyncio.sleep(0.25)  # its deadline passes
            assert not task.done()
        return [first, await task, third]

    async def handler(request: web.Request, number: int) -> web.Response:
        return web.Response(status=404) if "/404/" in request.path else await thousand(request, number)

    first, second, third = fetching(handler, steps, concurrency=1, fetch=SMALL).outcomes
    assert first == second == FetchedText("a" * 1000, 1000)
    assert third.error_type == "revision_not_found", "it had the only slot meanwhile"


CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + b"a" * 500


@pytest.mark.parametrize(
    ("answer", "error_type", "requests"),
    [
        pytest.param(page(b"\xff" * 1000), "invalid_body", 1, id="not UTF-8"),
        pytest.param(page(b"a" * 5000), "body_too_large", 1, id="too large"),
        pytest.param(CUT_OFF, "fetch_failed", 2, id="cut off"),
    ],
)
def test_a_refused_body_is_held_no_longer(fetching_bytes: Any, answer: bytes, error_type: str, requests: int) -> None:
    async def steps(client: Any) -> list[Any]:
        with in_flight(client).record() as holding:
            outcome = await client.outcome()
            assert (holding.memory_bytes, holding.spooled_bytes) == (0, 0)
        return [outcome]

    fetch = SMALL | {"total_requests": 2, "backoff": "0ms"}
    exchange, asked = fetching_bytes(answer, steps=steps, fetch=fetch, claim_check={"max_bytes": 4000})
    assert (exchange.failure.error_type, asked) == (error_type, requests)
