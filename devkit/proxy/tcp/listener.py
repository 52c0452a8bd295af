"""Accepts connections, makes each one to the upstream, and has the toxics act on them."""

import asyncio
from collections.abc import Callable, Sequence

from typing_extensions import override

from devkit.proxy.direction import Direction, directions_of
from devkit.proxy.listener import Listener
from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.port import Port
from devkit.proxy.tcp.connection import ProxiedConnection
from devkit.proxy.toxics.toxic import StreamEffect, StreamToxic, ToxicContext


class TcpListener(Listener):
    """A listener of layer `tcp`."""

    def __init__(self, new: NewListener) -> None:
        super().__init__(new, Port(new.port, self._protocol))
        self._connections: dict[int, ProxiedConnection] = {}
        self._count = 0
        self._effects: tuple[StreamEffect, ...] = ()
        # What a chunk is asked about, made when toxics change and not for each chunk.
        self._acting: dict[Direction, Sequence[StreamEffect]] = {"to_server": (), "to_client": ()}
        self._senses: dict[StreamEffect, tuple[Direction, ...]] = {}
        self._connecting: set[asyncio.Task[None]] = set()

    @override
    def begin(self, new: NewToxic, context: ToxicContext) -> Callable[[], None]:
        assert isinstance(new.do, StreamToxic)
        effect = new.do.effect(context)
        self._senses[effect] = directions_of(new.direction)
        self._arrange((*self._effects, effect))
        connections = tuple(self._connections.values())
        effect.begin(connections)
        for connection in connections:
            connection.began(effect, self._senses[effect])

        def end() -> None:
            self._arrange(tuple(active for active in self._effects if active is not effect))
            del self._senses[effect]
            effect.end()
            for connection in tuple(self._connections.values()):
                connection.pump()

        return end

    @override
    def may_listen(self) -> bool:
        return all(effect.listening for effect in self._effects)

    @override
    def connection_counts(self) -> tuple[int, int]:
        return self._count, len(self._connections)

    @override
    async def end_connections(self) -> None:
        for connection in tuple(self._connections.values()):
            connection.close()
        for task in tuple(self._connecting):
            task.cancel()

    def _arrange(self, effects: tuple[StreamEffect, ...]) -> None:
        self._effects = effects
        for direction in self._acting:
            self._acting[direction] = tuple(effect for effect in effects if direction in self._senses[effect])

    def _protocol(self) -> asyncio.Protocol:
        self._count += 1
        return ProxiedConnection(self._count, self._acting.__getitem__, accepted=self._accepted, over=self._over).client

    def _accepted(self, connection: ProxiedConnection) -> None:
        self._connections[connection.number] = connection
        for effect in self._effects:
            effect.accepted(connection)
        if connection.client.ended_by_us:
            connection.do_without_upstream()
            return
        task = asyncio.get_running_loop().create_task(connection.connect(*self.upstream))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    def _over(self, connection: ProxiedConnection) -> None:
        del self._connections[connection.number]
        for effect in self._effects:
            effect.closed(connection.number)
