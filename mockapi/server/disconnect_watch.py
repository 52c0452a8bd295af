"""Waits for an answer, a piece's time or the client, and ends when the client has disconnected."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from enum import Enum
from types import TracebackType
from typing import Any, Self, TypeVar

from starlette.types import Receive

from mockapi.server.wire import Wire

Answer = TypeVar("Answer")


class GivenUp(Enum):
    """Who stopped waiting for the answer: the client, or a proxy whose time limit was reached."""

    CLIENT = "the client has disconnected"
    PROXY = "the time is over"


async def await_answer(
    work: Coroutine[Any, Any, Answer], receive: Receive, *, within: timedelta | None
) -> Answer | GivenUp:
    """What `work` returns, unless it is given up first; then it is cancelled. None for `within` is no limit."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(until_disconnected(receive))
    try:
        limit_s = None if within is None else within.total_seconds()
        await asyncio.wait((working, watching), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            return GivenUp.CLIENT
        return working.result() if working.done() else GivenUp.PROXY
    finally:
        working.cancel()
        watching.cancel()


async def until_disconnected(receive: Receive) -> None:
    """Reads what the client still sends, and returns when it has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


class DisconnectWatch:
    """Notices that the client disconnects while it is entered.

    ASGI shows it only through `receive`, and a little late: by then a write may have met a closed connection. The wire,
    where there is one, knows at once.
    """

    def __init__(self, receive: Receive, wire: Wire | None) -> None:
        self._receive = receive
        self._wire = wire

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(until_disconnected(self._receive))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watching.cancel()

    @property
    def disconnected(self) -> bool:
        """Whether the client has disconnected; with a wire at once, else when ASGI says so."""
        return self._watching.done() or (self._wire is not None and self._wire.gone)

    async def wait(self, seconds: float | None) -> bool:
        """Waits for `seconds`, for None for ever; False, at once, when the client has disconnected."""
        if seconds is not None and seconds <= 0:
            # Once the client has gone, sending returns without a switch; who watches for it needs a turn to see it.
            await asyncio.sleep(0)
        else:
            await asyncio.wait((self._watching,), timeout=seconds)
        return not self.disconnected
