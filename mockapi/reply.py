"""An answer before it is sent, and the sending of it, which notices when the client leaves.

uvicorn drops what is sent to a client that has gone without telling; only `receive` shows it. So a long body goes out
in pieces while `receive` is watched, and the last piece counts as sent when the socket has taken it.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Send

from mockapi.patience import until_left

Headers = tuple[tuple[bytes, bytes], ...]

PIECE_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers in the order of the wire, and the body as encoded by them.

    `real_bytes` is the length of the decoded body, where it differs from that of `body`.
    """

    status: int
    headers: Headers
    body: bytes
    decoded_bytes: int | None = None

    @property
    def real_bytes(self) -> int:
        """The length of the body after decoding."""
        return len(self.body) if self.decoded_bytes is None else self.decoded_bytes

    def header(self, name: bytes) -> str | None:
        """The value of a header (lower-case name), None when it is not there."""
        return next((value.decode("latin-1") for key, value in self.headers if key == name), None)


@dataclass(frozen=True, slots=True)
class Sent:
    """`wire_bytes` of the body were handed to the socket; `completed` is False when the client left before the end."""

    wire_bytes: int
    completed: bool


async def send_reply(reply: Reply, *, head_only: bool, receive: Receive, send: Send) -> Sent:
    """Sends `reply`; without its body for HEAD."""
    await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
    if head_only:
        await send({"type": "http.response.body", "body": b""})
        return Sent(0, completed=True)
    if len(reply.body) <= PIECE_BYTES:
        await send({"type": "http.response.body", "body": reply.body})
        return Sent(len(reply.body), completed=True)
    gone = asyncio.create_task(until_left(receive))
    try:
        return await _send_in_pieces(reply.body, gone, send)
    finally:
        gone.cancel()


async def _send_in_pieces(body: bytes, gone: asyncio.Task[None], send: Send) -> Sent:
    view = memoryview(body)
    for start in range(0, len(body), PIECE_BYTES):
        await send({"type": "http.response.body", "body": bytes(view[start : start + PIECE_BYTES]), "more_body": True})
        if await _done(gone):
            return Sent(min(start + PIECE_BYTES, len(body)), completed=False)
    # An empty piece first waits for the buffer to drain; after the closing one `receive` always says "disconnect".
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    if await _done(gone):
        return Sent(len(body), completed=False)
    await send({"type": "http.response.body", "body": b""})
    return Sent(len(body), completed=True)


async def _done(gone: asyncio.Task[None]) -> bool:
    # `send` returns without a switch once the client has gone; the watching task needs its turn to see it.
    await asyncio.sleep(0)
    return gone.done()
