"""The addresses the server listens on, which it can leave for a while and come back to.

    listening ── a rule refuses ──> closed: connections are refused, the port stays taken ── it ends ──> listening

What keeps the port from others meanwhile is a socket bound to it that does not listen; it then becomes the listener.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Final

from mockapi.faults.refuse import FAULT
from mockapi.rules.model import Rule

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


class RefusalWatch:
    """`effective` gives the rules that are effective, `monotonic` seconds from an arbitrary start.

    A rule's time begins when it is first seen effective. A rule that was put again is a new one, and begins anew.
    """

    def __init__(self, effective: Callable[[], tuple[Rule, ...]], monotonic: Callable[[], float]) -> None:
        self._effective = effective
        self._monotonic = monotonic
        self._since: list[tuple[Rule, float]] = []

    def refuses(self) -> bool:
        """To be asked often: what a rule's time is depends on when it was first seen."""
        rules = [rule for rule in self._effective() if rule.do.has(FAULT)]
        if not rules:
            self._since.clear()
            return False
        now_s = self._monotonic()
        self._since = [(rule, self._first_seen(rule, now_s)) for rule in rules]
        return any(_lasts(rule, now_s - since_s) for rule, since_s in self._since)

    def _first_seen(self, rule: Rule, now_s: float) -> float:
        # The very rule, not an equal one: the same rule put once more is to begin once more.
        return next((since_s for known, since_s in self._since if known is rule), now_s)


def _lasts(rule: Rule, seconds: float) -> bool:
    refuse = rule.do.of(FAULT)
    return refuse is None or refuse.for_ is None or seconds < refuse.for_.total_seconds()
