"""The two ways an answer can leave: through ASGI, or as bytes of our own on the bare connection.

ASGI sends only what is right. What is not goes over a Wire; then the connection ends, since a client could not tell
where another answer begins on it.
"""

import http
from collections.abc import Iterable
from typing import Final, Protocol

from starlette.types import Send

from mockapi.server.delivery import Offset
from mockapi.server.reply import Reply
from mockapi.server.wire import Wire

_PHRASES: Final = {status.value: status.phrase for status in http.HTTPStatus}
_STATUS_LINES: Final = {code: f"HTTP/1.1 {code} {_PHRASES.get(code, '')}".encode() for code in range(100, 600)}


def head_lines(status: int, headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, ...]:
    """Status line and headers in their order, without line ends."""
    return (_STATUS_LINES[status], *map(b": ".join, headers))


def head_bytes(lines: tuple[bytes, ...]) -> bytes:
    """The head with the empty line that ends it. Raises ValueError for a header that would be more than one line."""
    head = b"\r\n".join((*lines, b"", b""))
    if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
        raise ValueError(f"a line end within a header: {head!r}")
    return head


class Channel(Protocol):
    """Takes an answer from its head to its end. Nothing happens once the client has disconnected."""

    async def head(self, reply: Reply) -> None:
        """Call it first, and once: sends status line and headers."""

    async def piece(self, data: bytes) -> None:
        """Sends a piece of the body, not empty; waits while too much is waiting to leave."""

    async def settled(self) -> None:
        """Waits until what was sent has been taken."""

    async def end(self) -> None:
        """Call it last: the client then knows that the body is complete."""


class AsgiChannel:
    """For an answer whose headers are right."""

    def __init__(self, send: Send, wire: Wire | None = None) -> None:
        self._send = send
        self._wire = wire

    async def head(self, reply: Reply) -> None:
        """The server adds the framing, from Content-Length or by chunks."""
        await self._send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})

    async def piece(self, data: bytes) -> None:
        """The server frames it, and waits while its write buffer is full."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def settled(self) -> None:
        """Until the server's buffer has drained."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})
        if self._wire is not None:
            await self._wire.received()

    async def end(self) -> None:
        """The connection goes on to the next request."""
        await self._send({"type": "http.response.body", "body": b""})


class RawChannel:
    """For any bytes. `sent_head` is what of status line and headers is sent."""

    def __init__(self, wire: Wire, *, chunked: bool) -> None:
        self.wire = wire
        self._chunked = chunked

    async def head(self, reply: Reply) -> None:
        """The whole head at once; `part_of_head` is for an end within it."""
        await self.wire.write(self.head_bytes(reply))

    async def part_of_head(self, reply: Reply, offset: Offset) -> int:
        """The head up to there; returns how many bytes that is. It is never the whole head."""
        whole = self.head_bytes(reply)
        part = whole[: min(offset.within(len(whole)), len(whole) - 1)]
        await self.wire.write(part)
        return len(part)

    def head_bytes(self, reply: Reply) -> bytes:
        """Status line and headers as they leave, with the empty line."""
        return head_bytes(self.head_lines(reply))

    def head_lines(self, reply: Reply) -> tuple[bytes, ...]:
        """Status line and headers, the server's own before the reply's."""
        framing = ((b"transfer-encoding", b"chunked"),) if self._chunked else ()
        return head_lines(reply.status, (*self.wire.first_headers, *reply.headers, *framing))

    async def piece(self, data: bytes) -> None:
        """As a chunk if the body is chunked."""
        await self.wire.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def settled(self) -> None:
        """Until it has reached the client's machine."""
        await self.wire.settled()

    async def end(self) -> None:
        """Ends the connection too, with FIN."""
        if self._chunked:
            await self.wire.write(b"0\r\n\r\n")
            await self.settled()
        self.wire.finish()
