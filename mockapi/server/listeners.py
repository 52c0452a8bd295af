"""The addresses the server listens on, which it can leave for a while and come back to.

    listening ── a rule refuses ──> closed: connections are refused, the port stays taken ── it ends ──> listening

What keeps the port from others meanwhile is a socket bound to it that does not listen; it then becomes the listener.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Final

BACKLOG: Final = 2048


class Listeners:
    """Opens and closes `servers`, a list that is kept up to date for its other holders."""

    def __init__(
        self, servers: list[asyncio.Server], sockets: Sequence[socket.socket], protocol: Callable[[], asyncio.Protocol]
    ) -> None:
        self._servers = servers
        self._addresses = tuple((listener.family, listener.getsockname()) for listener in sockets)
        self._protocol = protocol
        self._kept: list[socket.socket] = []
        self._busy = asyncio.Lock()
        self.listening = True

    async def listen(self, *, on: bool) -> None:
        """Opens or closes them; nothing happens if that is how they are. Open connections live on."""
        async with self._busy:
            if on and not self.listening:
                await self._open()
            elif not on and self.listening:
                self._close()

    def release(self) -> None:
        """Gives up the ports that were kept."""
        for kept in self._kept:
            kept.close()
        self._kept.clear()

    def _close(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        self._kept = [_bound(family, address) for family, address in self._addresses]
        self.listening = False

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        for kept in self._kept:
            kept.listen(BACKLOG)
            self._servers.append(await loop.create_server(self._protocol, sock=kept, backlog=BACKLOG))
        self._kept = []
        self.listening = True


def _bound(family: int, address: tuple[str, int]) -> socket.socket:
    kept = socket.socket(family, socket.SOCK_STREAM)
    # Connections of before may still hold the port.
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.setblocking(False)
    kept.bind(address)
    return kept
