"""Latency: every chunk goes on `time` after it came, or up to `jitter` later, in order.

Order means that a chunk with a short draw waits for the one before it, as in TCP. Throughput is bounded besides: a
direction holds no more than `devkit.proxy.tcp.pipe.MOST_HELD_BYTES`, as a real path is bounded by its window.
"""

from datetime import timedelta
from typing import ClassVar, Self

from pydantic import Field, model_validator
from typing_extensions import override

from devkit.proxy.direction import Direction
from devkit.proxy.toxics.toxic import Chunk, StreamEffect, StreamToxic, ToxicContext, uniform
from located_config.duration import Duration


class LatencyToxic(StreamToxic):
    """Every chunk goes on `time` later, and up to `jitter` more, in order."""

    key: ClassVar[str] = "latency"

    time: Duration = Field(
        description="Time by which each piece of data arrives later, in each direction that is meant."
    )
    jitter: Duration = Field(
        default=timedelta(0), description="Longest further delay; each piece of data draws one from 0 to this."
    )

    @model_validator(mode="after")
    def _is_late(self) -> Self:
        if not self.time and not self.jitter:
            raise ValueError("delays nothing; give a time or a jitter above 0: {time: 200ms}")
        return self

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Delay(self, context)


class _Delay(StreamEffect):
    def __init__(self, toxic: LatencyToxic, context: ToxicContext) -> None:
        self._time_s, self._jitter_s = toxic.time.total_seconds(), toxic.jitter.total_seconds()
        self._context = context
        # Counted from when the toxic began, so that two arms of a run on the same listener draw the same.
        self._order: dict[int, int] = {}
        self._met = 0
        self._first_chunk: dict[tuple[int, Direction], int] = {}

    def took(self, chunk: Chunk) -> None:
        if chunk.connection not in self._order:
            self._met += 1
            self._order[chunk.connection] = self._met
        self._first_chunk.setdefault((chunk.connection, chunk.direction), chunk.number)
        self._context.proof.delayed(chunk.connection, len(chunk.data))

    def ready_at(self, chunk: Chunk) -> float:
        return chunk.arrived + self._time_s + (self._jitter_s * self._draw(chunk) if self._jitter_s else 0.0)

    def closed(self, connection: int) -> None:
        self._order.pop(connection, None)
        for direction in ("to_server", "to_client"):
            self._first_chunk.pop((connection, direction), None)

    def _draw(self, chunk: Chunk) -> float:
        """In (0, 1): a function of the seed, of the connection and of the chunk in it."""
        number = chunk.number - self._first_chunk[chunk.connection, chunk.direction]
        context = self._context
        return uniform(context.seed, context.name, self._order[chunk.connection], chunk.direction, number)
