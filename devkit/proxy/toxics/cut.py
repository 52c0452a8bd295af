"""Cut: the port refuses connections, and those that were open are closed on both sides with FIN.

What the proxy held at that moment is lost. Clients see what they would see of a part that was stopped; the part sees
its clients leave. When the toxic ends the same port listens again.
"""

from collections.abc import Collection
from typing import ClassVar

from typing_extensions import override

from devkit.proxy.toxics.toxic import Connection, StreamEffect, StreamToxic, ToxicContext


class Cut(StreamToxic):
    """New connections are refused and open ones closed."""

    key: ClassVar[str] = "cut"

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Cut(context)


class _Cut(StreamEffect):
    listening = False

    def __init__(self, context: ToxicContext) -> None:
        self._proof = context.proof

    def begin(self, connections: Collection[Connection]) -> None:
        self._proof.acted()
        for connection in connections:
            self.accepted(connection)

    def accepted(self, connection: Connection) -> None:
        """Open before the cut, or accepted by the system just before the port was closed."""
        self._proof.dropped(connection.number, connection.close())
