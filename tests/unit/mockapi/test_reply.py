import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from mockapi.reply import PIECE_BYTES, Reply, Sent, send_reply

Message = MutableMapping[str, Any]


class Client:
    """The other end of an ASGI exchange; leaves once it holds `leaves_after` bytes of body."""

    def __init__(self, leaves_after: int | None = None) -> None:
        self._leaves_after = leaves_after
        self._gone = asyncio.Event()
        self.messages: list[Message] = []

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    async def receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.messages.append(message)
        if self._leaves_after is not None and len(self.body) >= self._leaves_after:
            self._gone.set()


def sent(reply: Reply, make_client: Callable[[], Client], *, head_only: bool = False) -> tuple[Sent, Client]:
    async def exchange() -> tuple[Sent, Client]:
        client = make_client()
        return await send_reply(reply, head_only=head_only, receive=client.receive, send=client.send), client

    return asyncio.run(exchange())


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_the_whole_body_arrives(size: int) -> None:
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    outcome, client = sent(Reply(200, ((b"a", b"b"),), body), Client)
    assert outcome == Sent(size, completed=True)
    assert client.body == body
    assert client.messages[0] == {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]}
    assert not client.messages[-1].get("more_body")


def test_a_client_that_leaves_is_noticed_and_gets_no_more() -> None:
    body = b"x" * (10 * PIECE_BYTES)
    outcome, client = sent(Reply(200, (), body), lambda: Client(leaves_after=2 * PIECE_BYTES))
    assert outcome == Sent(2 * PIECE_BYTES, completed=False)
    assert len(client.body) == 2 * PIECE_BYTES


class LeavesWhileTheBufferDrains(Client):
    """Takes every piece; goes when the server waits for the socket to take the last."""

    async def send(self, message: Message) -> None:
        await super().send(message)
        if message.get("more_body") and not message["body"]:
            self._gone.set()


def test_leaving_with_the_last_piece_outstanding_is_noticed() -> None:
    body = b"x" * (2 * PIECE_BYTES)
    outcome, client = sent(Reply(200, (), body), LeavesWhileTheBufferDrains)
    assert outcome == Sent(len(body), completed=False)
    assert client.messages[-1].get("more_body")


def test_head_has_no_body() -> None:
    outcome, client = sent(Reply(200, (), b"body"), Client, head_only=True)
    assert outcome == Sent(0, completed=True)
    assert client.body == b""


def test_real_bytes_are_those_after_decoding() -> None:
    assert Reply(200, (), b"abc").real_bytes == 3
    assert Reply(200, (), b"abc", 90).real_bytes == 90
