"""The client within its bounds: connections, bytes of the records that have not left."""

import asyncio
import contextlib
import gzip
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText, WikiClient
from pipeline.fetch.connection import OneAnswer
from tests.unit.pipeline.fetch.answers import answering

SMALL = {"max_in_flight_bytes": 1000, "inline_limit": 100}
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
NOT_FOUND = b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"errorKey":"rest-no"}'


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


def page_of_revision(rev_id: int) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Revision-Id: {rev_id}\r\nContent-Length: 3\r\n\r\n"
    return head.encode() + b"<p>"


class Transport(asyncio.Transport):
    aborted = False

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


def received(*pieces: bytes) -> tuple[list[int], bool]:
    """The statuses of what a connection takes of these pieces as answers, and whether it is closed."""

    async def run() -> tuple[list[int], bool]:
        transport = Transport()
        protocol = OneAnswer(asyncio.get_running_loop())
        protocol.connection_made(transport)
        protocol.set_response_params()
        for piece in pieces:
            protocol.data_received(piece)
        return [(await protocol.read())[0].code for _ in range(len(protocol))], transport.aborted

    return asyncio.run(run())


def test_one_answer_in_any_pieces_keeps_the_connection() -> None:
    assert received(page_of_revision(5)) == ([200], False)
    assert received(*(page_of_revision(5)[at : at + 1] for at in range(len(page_of_revision(5))))) == ([200], False)
    assert received(EARLY, EARLY + page_of_revision(5)) == ([103, 103, 200], False)


@pytest.mark.parametrize("more", [NOT_FOUND, page_of_revision(6), EARLY, b"HTTP/1.1 200 OK\r\nX: "], ids=str)
@pytest.mark.parametrize("at", [0, 30, -1], ids=["with it", "in its head", "in its body"])
def test_what_follows_an_answer_is_dropped_with_the_connection(more: bytes, at: int) -> None:
    assert received(page_of_revision(5), more) == ([200], True)
    if more.endswith(b"X: "):
        return  # aiohttp's parser keeps half a head to itself
    assert received(page_of_revision(5)[:at], page_of_revision(5)[at:] + more) == ([200], True)


def test_answers_that_are_none_yet_come_to_an_end() -> None:
    statuses, is_closed = received(EARLY * 10_000)
    assert len(statuses) < 100
    assert is_closed


def test_an_answer_that_nobody_asked_for_is_not_that_of_the_next_request(with_client: Any) -> None:
    connections = 0

    async def run() -> Any:
        first_is_read, first_is_closed = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            is_first = connections == 1
            await reader.readuntil(b"\r\n\r\n")
            writer.write(page_of_revision(5 if is_first else 6))
            if is_first:
                await first_is_read.wait()
                writer.write(NOT_FOUND)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            first_is_closed.set()
            writer.close()

        async def steps(client: Any) -> list[Any]:
            outcomes = [await client.outcome(5)]
            first_is_read.set()
            with contextlib.suppress(TimeoutError):  # kept open, as aiohttp does for 3.5 s
                await asyncio.wait_for(first_is_closed.wait(), 1)
            return [*outcomes, await client.outcome(6)]

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await with_client(f"http://127.0.0.1:{port}", steps, jitter=None)

    assert asyncio.run(run()) == [FetchedText("<p>", 3)] * 2
    assert connections == 2
