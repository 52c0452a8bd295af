import asyncio
import contextlib
from typing import Any

import pytest

from pipeline.fetch.client import FetchedText
from pipeline.fetch.connection import OneAnswer

EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
NOT_FOUND = b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"errorKey":"rest-no"}'


def page(rev_id: int) -> bytes:
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
    assert received(page(5)) == ([200], False)
    assert received(*(page(5)[at : at + 1] for at in range(len(page(5))))) == ([200], False)
    assert received(EARLY, EARLY + page(5)) == ([103, 103, 200], False)


@pytest.mark.parametrize("more", [NOT_FOUND, page(6), EARLY, b"HTTP/1.1 200 OK\r\nX: "], ids=str)
@pytest.mark.parametrize("at", [0, 30, -1], ids=["with it", "in its head", "in its body"])
def test_what_follows_an_answer_is_dropped_with_the_connection(more: bytes, at: int) -> None:
    assert received(page(5), more) == ([200], True)
    if more.endswith(b"X: "):
        return  # aiohttp's parser keeps half a head to itself
    assert received(page(5)[:at], page(5)[at:] + more) == ([200], True)


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
            writer.write(page(5 if is_first else 6))
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
