"""How long an answer is waited for: until it is there, its client has disconnected, or the proxy in front gives up."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from enum import Enum
from typing import Any, TypeVar

from starlette.types import Receive

Answer = TypeVar("Answer")


class GivenUp(Enum):
    """Who stopped waiting for the answer: the client, or a proxy whose time limit was reached."""

    CLIENT = "the client has disconnected"
    PROXY = "the time is over"


async def while_awaited(
    work: Coroutine[Any, Any, Answer], receive: Receive, *, within: timedelta | None
) -> Answer | GivenUp:
    """What `work` returns, unless it is given up first; then it is cancelled. None for `within` is no limit."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(until_disconnected(receive))
    try:
        limit_s = None if within is None else within.total_seconds()
        await asyncio.wait((working, leaving), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            return GivenUp.CLIENT
        return working.result() if working.done() else GivenUp.PROXY
    finally:
        working.cancel()
        leaving.cancel()


async def until_disconnected(receive: Receive) -> None:
    """Reads what the client still sends, and returns when it has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
