"""Bandwidth: all connections of the listener share a link that carries `rate` bytes a second in each direction.

A piece goes on when its last byte would be through the link, so N bytes take at least N / rate. Connections take
turns, a piece of 50 ms each. What a client sends meanwhile waits in the proxy, then in the client's socket.
"""

from typing import Annotated, ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.proxy.direction import DIRECTIONS, Direction
from devkit.proxy.toxics.toxic import Chunk, StreamEffect, StreamToxic, ToxicContext
from located_config.rate import PER_SECOND
from located_config.size import Size

_TURN_S = 0.05


class Bandwidth(StreamToxic):
    """The connections together carry `rate` bytes a second in a direction: `{rate: 64KiB}`."""

    key: ClassVar[str] = "bandwidth"

    rate: Annotated[Size, Field(ge=1), PER_SECOND] = Field(
        description="Bytes a second that all connections carry together, in each direction."
    )

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Link(self.rate, context)


class _Link(StreamEffect):
    def __init__(self, rate: int, context: ToxicContext) -> None:
        self._rate = rate
        self._proof = context.proof
        self._free_at: dict[Direction, float] = dict.fromkeys(DIRECTIONS, context.now)
        self._slots: dict[tuple[Direction, int], float] = {}
        self.piece_bytes = max(1, int(rate * _TURN_S))

    def took(self, chunk: Chunk) -> None:
        self._proof.delayed(chunk.connection, len(chunk.data))

    def ready_at(self, chunk: Chunk) -> float:
        key = (chunk.direction, chunk.connection)
        if key not in self._slots:
            # From when the link was free and not from now: a timer that fires late must not cost bandwidth.
            start = max(self._free_at[chunk.direction], chunk.arrived)
            self._free_at[chunk.direction] = self._slots[key] = start + len(chunk.data) / self._rate
        return self._slots[key]

    def passed(self, chunk: Chunk) -> None:
        self._slots.pop((chunk.direction, chunk.connection), None)

    def closed(self, connection: int) -> None:
        for direction in DIRECTIONS:
            self._slots.pop((direction, connection), None)
