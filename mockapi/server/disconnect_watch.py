"""Whether the client is still there."""

import asyncio
from types import TracebackType
from typing import Self

from starlette.types import Receive

from mockapi.server.timeout import until_disconnected
from mockapi.server.wire import Wire


class Leaving:
    """Watches for the client's leaving while it is entered.

    ASGI tells of it only through `receive`, and a little late: by then a write may have met a connection that was gone.
    The wire, where there is one, knows at once.
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
    def seen(self) -> bool:
        """Whether the client has disconnected; with a wire at once, else when ASGI says so."""
        return self._watching.done() or (self._wire is not None and self._wire.gone)

    async def held_back(self, seconds: float | None) -> bool:
        """Waits for this time, for None for ever; False, at once, when the client has disconnected."""
        if seconds is not None and seconds <= 0:
            # Once the client has gone, sending returns without a switch; who watches for it needs a turn to see it.
            await asyncio.sleep(0)
        else:
            await asyncio.wait((self._watching,), timeout=seconds)
        return not self.seen
