"""A loopback port that a listener keeps, also while it refuses connections.

listening ── a toxic refuses ──▶ bound and not listening: the system answers RST ── it ends ──▶ listening
"""

import asyncio
import socket
from collections.abc import Callable

from devkit.proxy.errors import TakenError

LOOPBACK = "127.0.0.1"
_BACKLOG = 1024


class Port:
    """Connections are served by what `protocol` makes."""

    def __init__(self, number: int, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._protocol = protocol
        try:
            self._bound: socket.socket | None = _bound(number)
        except OSError as error:
            raise TakenError(f"port {number} cannot be used: {error.strerror}") from None
        self.number = int(self._bound.getsockname()[1])
        self._server: asyncio.Server | None = None
        self._busy = asyncio.Lock()

    @property
    def address(self) -> str:
        """`host:port`, the same while connections are refused."""
        return f"{LOOPBACK}:{self.number}"

    @property
    def listening(self) -> bool:
        """False while a toxic refuses connections, before `listen` and after `close`."""
        return self._server is not None

    async def listen(self, *, on: bool) -> None:
        """Open or close it; nothing happens if that is how it is. Open connections live on."""
        async with self._busy:
            if on and self._bound is not None:
                self._bound.listen(_BACKLOG)
                loop = asyncio.get_running_loop()
                self._server = await loop.create_server(self._protocol, sock=self._bound, backlog=_BACKLOG)
                self._bound = None
            elif not on and self._server is not None:
                self._server.close()
                self._server = None
                self._bound = _bound(self.number)

    def close(self) -> None:
        """Give the port up."""
        if self._server is not None:
            self._server.close()
        if self._bound is not None:
            self._bound.close()
        self._server = self._bound = None


def _bound(number: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Connections of before may still hold the port.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setblocking(False)
    try:
        bound.bind((LOOPBACK, number))
    except OSError:
        bound.close()
        raise
    return bound
