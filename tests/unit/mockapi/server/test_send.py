import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from mockapi.server.delivery import AS_IT_IS, Delivery
from mockapi.server.message import UNABLE, message, needs_wire
from mockapi.server.pace import PIECE_BYTES
from mockapi.server.reply import Held, Reply, Streamed
from mockapi.server.send import Sent, send_message
from tests.unit.mockapi.faults.planned import delivery

LONG = b"x" * (3 * PIECE_BYTES * 4)


class Client:
    """Takes what is sent; leaves after `patience_bytes` of the body."""

    def __init__(self, patience_bytes: int | None = None) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        self.body = b""
        self.began = asyncio.Event()
        self._patience_bytes = patience_bytes
        self.left = asyncio.Event()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)
        self.began.set()
        self.body += message.get("body", b"")
        if self._patience_bytes is not None and len(self.body) >= self._patience_bytes:
            self.left.set()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}


def reply(data: bytes) -> Reply:
    return Reply.of(200, ((b"content-length", str(len(data)).encode()),), data)


def play(reply: Reply, how: Delivery, *, head_only: bool = False, patience: int | None = None) -> tuple[Sent, Client]:
    async def run() -> tuple[Sent, Client]:
        client = Client(patience)
        response = await message(reply, how, head_only=head_only)
        return await send_message(response, how, wire=None, receive=client.receive, send=client.send), client

    return asyncio.run(run())


def test_a_short_body_leaves_at_once() -> None:
    sent, client = play(reply(b"page"), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed, client.body) == (4, True, b"page")
    assert [event["type"] for event in client.sent] == ["http.response.start", "http.response.body"]


def test_a_head_has_no_body() -> None:
    sent, client = play(reply(b"page"), AS_IT_IS, head_only=True)
    assert (sent.wire_bytes, sent.completed, client.body) == (0, True, b"")
    paced, client = play(reply(b"page"), delivery({"bandwidth": 1}), head_only=True)
    assert (paced.wire_bytes, paced.completed, client.body) == (0, True, b"")


@pytest.mark.parametrize("held", [True, False])
def test_a_long_body_leaves_in_pieces(held: bool) -> None:
    body = Held(LONG) if held else Streamed(lambda: iter([LONG, b""]), len(LONG), len(LONG))
    sent, client = play(Reply(200, ((b"content-length", str(len(LONG)).encode()),), body), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed) == (len(LONG), True)
    assert client.body == LONG
    assert max(len(event.get("body", b"")) for event in client.sent) == PIECE_BYTES


def test_who_leaves_gets_no_more() -> None:
    sent, client = play(reply(LONG), AS_IT_IS, patience=PIECE_BYTES)
    assert not sent.completed
    assert sent.wire_bytes == len(client.body) < len(LONG)


def test_a_body_without_bytes_in_pieces() -> None:
    sent, client = play(Reply(200, (), Streamed(lambda: iter([]), None, 0)), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed, client.body) == (0, True, b"")


def test_dribbled_pieces_are_the_body() -> None:
    sent, client = play(reply(b"0123456789"), delivery({"dribble": {"bytes": 4, "every": "1ms"}}))
    assert (sent.completed, client.body) == (True, b"0123456789")
    assert [event["body"] for event in client.sent if event.get("body")] == [b"0123", b"4567", b"89"]


@pytest.mark.parametrize("do", [{"latency_before_body": "never"}, {"latency_through_body": "never"}])
def test_what_never_ends_is_waited_for_until_the_client_leaves(do: dict[str, Any]) -> None:
    async def run() -> tuple[Sent, bytes]:
        client = Client()
        response = await message(reply(b"ab"), delivery(do), head_only=False)
        sending = asyncio.create_task(
            send_message(response, delivery(do), wire=None, receive=client.receive, send=client.send)
        )
        await client.began.wait()
        client.left.set()
        return await sending, client.body

    sent, body = asyncio.run(run())
    assert not sent.completed
    assert sent.wire_bytes == len(body) < 2


@pytest.mark.parametrize(
    ("do", "needs"),
    [
        ({"content_length": "negative"}, True),
        ({"reset": {}}, True),
        ({"hang": True}, True),
        ({"keep_alive": 1}, True),
        ({"keep_alive": {"requests": 1, "announce": True}}, False),
        ({"bandwidth": 1}, False),
        ({"charset": "none"}, False),
    ],
)
def test_what_asgi_cannot_send(do: dict[str, Any], needs: bool) -> None:
    response = asyncio.run(message(reply(b"page"), delivery(do), head_only=False))
    assert needs_wire(response, delivery(do)) is needs
    assert UNABLE.reply.status == 501
