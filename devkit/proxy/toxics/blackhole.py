"""Blackhole: connections are accepted and stay open, and nothing goes through, as when a firewall drops packets.

Nothing is lost: bytes and ends of streams that come meanwhile wait, a bounded number of them in the proxy and the rest
in the sender's socket, and go on in order when the toxic ends, as TCP's retransmissions would. Unlike a real
firewall's, the handshake of a new connection succeeds.
"""

import math
from typing import ClassVar

from typing_extensions import override

from devkit.proxy.toxics.toxic import Chunk, StreamEffect, StreamToxic, ToxicContext


class Blackhole(StreamToxic):
    """Connections stay open and nothing goes through until it ends; then what was held goes on."""

    key: ClassVar[str] = "blackhole"

    @override
    def effect(self, context: ToxicContext) -> StreamEffect:
        return _Hold(context)


class _Hold(StreamEffect):
    def __init__(self, context: ToxicContext) -> None:
        self._proof = context.proof

    def took(self, chunk: Chunk) -> None:
        self._proof.delayed(chunk.connection, len(chunk.data))

    def ready_at(self, chunk: Chunk) -> float:  # noqa: ARG002 - whatever it is
        return math.inf
