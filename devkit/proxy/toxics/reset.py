"""Reset: open connections end with RST on both sides, and new ones as soon as they are accepted.

What either side had sent and the other had not read is lost, as when a middlebox forgets its connections and says so.
"""

from collections.abc import Collection
from typing import ClassVar

from typing_extensions import override

from devkit.proxy.toxics.toxic import Connection, StreamEffect, StreamToxic, ToxicContext


class Reset(StreamToxic):
    """Open connections and new ones end with RST."""

    key: ClassVar[str] = "reset"

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Reset(context)


class _Reset(StreamEffect):
    def __init__(self, context: ToxicContext) -> None:
        self._proof = context.proof

    def begin(self, connections: Collection[Connection]) -> None:
        for connection in connections:
            self.accepted(connection)

    def accepted(self, connection: Connection) -> None:
        self._proof.dropped(connection.number, connection.reset())
