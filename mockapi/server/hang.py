"""A request that is never answered."""

import asyncio
from collections.abc import Callable
from typing import Final

from mockapi.server.wire import Wire

_FIRST_LOOK_S: Final = 0.02
_SELDOM_S: Final = 1.0


async def hang(wire: Wire, holds: Callable[[], bool]) -> None:
    """Reads nothing and says nothing until the client has disconnected or `holds` says no; then closes the connection.

    Both are looked at by the clock, less and less often: as nothing is read, nothing tells that the
    client has disconnected.
    """
    wire.stop_reading()
    wait_s = _FIRST_LOOK_S
    while holds() and not wire.left:
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 1.5, _SELDOM_S)
    wire.finish()
