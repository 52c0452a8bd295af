"""The requests of one client connection, each passed on over one connection to the store, or answered here.

client ── head ──▶ plan ── pass on ──▶ store          request and answer go side by side: a store may refuse early,
                    └──── answer ──▶ client           and a client may wait for 100 Continue with its body
"""

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from devkit.proxy.s3.http1 import (
    HttpError,
    RequestHead,
    read_body,
    read_request_head,
    read_response_head,
)
from devkit.proxy.s3.request import StoreRequest
from devkit.proxy.toxics.store import Answer, Plan, Slowness

_TROUBLE = (HttpError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


@dataclass(frozen=True)
class _Received:
    """`continued` is None unless the client waits for that, `ends` is whether the store's connection ends with it."""

    continued: bool | None
    ends: bool


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Exchange:
    """`plan` says what happens to a request when its head has come; the request waits for that."""

    def __init__(
        self, number: int, client: Streams, upstream: tuple[str, int], plan: Callable[[StoreRequest], Awaitable[Plan]]
    ) -> None:
        self._number, self._upstream, self._plan = number, upstream, plan
        self._reader, self._writer = client
        self._store: Streams | None = None

    async def run(self) -> None:
        """Until the client disconnects, or its connection is over, as when the store ends it or is not there."""
        try:
            while await self._serve_request():
                pass
        except _TROUBLE:
            self._writer.transport.abort()
        finally:
            # Also when the task is cancelled.
            self._writer.close()
            self._disconnect_store()

    async def _serve_request(self) -> bool:
        """One request and its answer; False when the connection is over."""
        head = await read_request_head(self._reader)
        if head is None:
            return False
        plan = await self._plan(StoreRequest(self._number, head.method, head.target))
        if plan.slowness is not None and plan.slowness.before_s > 0:
            plan.slowness.proof.answered(self._number)
            await _wait(plan.slowness, plan.slowness.before_s)
        if plan.answer is not None:
            return await self._answer(head, plan.answer)
        return await self._pass_on(head, plan)

    async def _answer(self, head: RequestHead, answer: Answer) -> bool:
        dropped = 0
        if not head.expects_continue:
            async for piece in read_body(head, self._reader, until_end=False):
                dropped += len(piece)
        answer.proof.answered(self._number)
        answer.proof.dropped(self._number, dropped)
        closes = head.expects_continue or head.closes
        self._writer.write(_error(head, answer, closes=closes))
        await self._writer.drain()
        return not closes

    async def _pass_on(self, head: RequestHead, plan: Plan) -> bool:
        reader, writer = await self._connect_store()
        sending = asyncio.ensure_future(self._send(head, writer, plan.slowness))
        receiving = asyncio.ensure_future(self._receive(head, reader))
        try:
            await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                is_sent, received = sending.result(), await receiving
            else:
                received = receiving.result()
                # A client that was not told to continue keeps the body, so there is nothing to wait for.
                is_sent = received.continued is not False and await sending
        finally:
            for task in (sending, receiving):
                task.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)
        return is_sent and not received.ends and not head.closes

    async def _send(self, head: RequestHead, writer: asyncio.StreamWriter, slowness: Slowness | None) -> bool:
        """False when the store does not take all of it, which then may have answered already."""
        through_s = slowness.through_s if slowness else 0.0
        loop = asyncio.get_running_loop()
        began, count = loop.time(), 0
        if not await _write(writer, head.raw):
            return False
        async for piece in read_body(head, self._reader, until_end=False):
            if slowness is not None:
                if not count and slowness.before_s <= 0:
                    slowness.proof.answered(self._number)  # its body alone is held back, so only now it acts
                count += len(piece)
                slowness.proof.delayed(self._number, len(piece))
                share = count / head.content_length if head.content_length and not head.chunked else 1.0
                await _wait(slowness, began + through_s * share - loop.time())
            if not await _write(writer, piece):
                return False
        return True

    async def _receive(self, head: RequestHead, reader: asyncio.StreamReader) -> "_Received":
        continued = False if head.expects_continue else None
        while (answer := await read_response_head(reader)).status < 200:
            continued = True
            self._writer.write(answer.raw)
            await self._writer.drain()
        self._writer.write(answer.raw)
        if not answer.bodiless(head.method):
            async for piece in read_body(answer, reader, until_end=True):
                self._writer.write(piece)
                await self._writer.drain()
        await self._writer.drain()
        return _Received(continued, ends=answer.closes or answer.lasts_to_end(head.method))

    async def _connect_store(self) -> Streams:
        if self._store is None or self._store[1].is_closing() or self._store[0].at_eof():
            self._disconnect_store()
            self._store = await asyncio.open_connection(*self._upstream)
        return self._store

    def _disconnect_store(self) -> None:
        if self._store is not None:
            self._store[1].transport.abort()
            self._store = None


async def _write(writer: asyncio.StreamWriter, data: bytes) -> bool:
    try:
        writer.write(data)
        await writer.drain()
    except OSError:
        return False
    return True


async def _wait(slowness: Slowness, seconds: float) -> None:
    """Let the time pass, or less when the toxic ends."""
    if seconds > 0:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(slowness.ended.wait(), seconds)


def _error(head: RequestHead, answer: Answer, *, closes: bool) -> bytes:
    """An error response as S3 writes it: the status line, and a body in XML unless the method has none."""
    resource = escape(head.target.partition("?")[0])
    request_id = uuid.uuid4().hex[:16].upper()
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{answer.code}</Code><Message>{escape(answer.message)}</Message>"
        f"<Resource>{resource}</Resource><RequestId>{request_id}</RequestId></Error>"
    ).encode()
    reason = {403: "Forbidden", 500: "Internal Server Error", 503: "Slow Down"}[answer.status]
    lines = [
        f"HTTP/1.1 {answer.status} {reason}",
        f"x-amz-request-id: {request_id}",
        "Content-Type: application/xml",
        f"Content-Length: {len(body)}",
        f"Connection: {'close' if closes else 'keep-alive'}",
        "Server: AmazonS3",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if head.method == "HEAD" else body)
