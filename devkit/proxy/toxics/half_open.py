"""Half-open: of the connections open now one side is closed and the other is not told.

`to_server` closes the server's side: the client believes in a connection whose bytes go nowhere. `to_client` closes
the client's: the server keeps a client that has gone. With `both` neither is told, as when a NAT drops its table.
Connections made later work. When the toxic ends the forgotten ones get RST, as from a host that does not know them.
"""

from collections.abc import Collection
from typing import ClassVar

from typing_extensions import override

from devkit.proxy.toxics.toxic import Connection, StreamEffect, StreamToxic, ToxicContext


class HalfOpen(StreamToxic):
    """Open connections lose the receiver of a direction, and the other side is not told."""

    key: ClassVar[str] = "half_open"

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Forget(context)


class _Forget(StreamEffect):
    def __init__(self, context: ToxicContext) -> None:
        self._context = context
        self._forgotten: dict[int, Connection] = {}

    def begin(self, connections: Collection[Connection]) -> None:
        for connection in connections:
            self._forgotten[connection.number] = connection
            self._context.proof.touched(connection.number)
            connection.sever(self._context.sense, self._context.proof)

    def closed(self, connection: int) -> None:
        self._forgotten.pop(connection, None)

    def end(self) -> None:
        for connection in tuple(self._forgotten.values()):
            connection.reset()
