"""A client's connection and the one to the upstream that is made for it.

    client's End ── feed ──▶ Pipe to_server ── write ──▶ server's End
    client's End ◀── write ── Pipe to_client ◀── feed ── server's End

An end of stream or a reset of one side goes through the pipe like bytes, so that toxics hold it back as well.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Final, cast

from typing_extensions import override

from devkit.proxy.direction import Direction, Sense
from devkit.proxy.proof import ProxyProof
from devkit.proxy.tcp.pipe import Pipe
from devkit.proxy.toxics.toxic import Connection, StreamEffect

# On with 0 s: closing sends RST and forgets what is not sent.
_LINGER_NOT: Final = struct.pack("ii", 1, 0)
_WRITE_BUFFER_BYTES: Final = 256 << 10


class ProxiedConnection(Connection):
    """Begins when a client has connected; `over` is called once, when neither side is there any more."""

    def __init__(
        self,
        number: int,
        effects: Callable[[Direction], Sequence[StreamEffect]],
        *,
        accepted: Callable[["ProxiedConnection"], object],
        over: Callable[["ProxiedConnection"], object],
    ) -> None:
        self.number = number
        self._accepted, self._over = accepted, over
        self._is_over = self._severed = False
        self.to_server = Pipe(
            number, "to_server", lambda: effects("to_server"), rst=self._reset_server, ended=self._one_way_ended
        )
        self.to_client = Pipe(
            number, "to_client", lambda: effects("to_client"), rst=self._reset_client, ended=self._one_way_ended
        )
        self.client = End(self.to_server, self.to_client, made=lambda: self._accepted(self), lost=self._lost)
        self.server = End(self.to_client, self.to_server, made=lambda: None, lost=self._lost)

    async def connect(self, host: str, port: int) -> None:
        """Connect to the upstream. When it refuses, the client is reset: it believes that it is connected."""
        try:
            await asyncio.get_running_loop().create_connection(lambda: self.server, host, port)
        except OSError:
            self.do_without_upstream()
            self.reset()

    def do_without_upstream(self) -> None:
        """There is no upstream connection and there will be none."""
        self.server.gone = True
        self._check_over()

    @override
    def close(self) -> int:
        return self._end(End.abort)

    @override
    def reset(self) -> int:
        return self._end(End.reset)

    @override
    def sever(self, sense: Sense, proof: ProxyProof) -> None:
        self._severed = True
        for pipe in (self.to_server, self.to_client):
            pipe.swallow(proof)
        if sense == "to_server":
            self.server.abort()
        elif sense == "to_client":
            self.client.abort()

    def began(self, effect: StreamEffect, directions: Sequence[Direction]) -> None:
        """A toxic begins to act on these directions."""
        for direction in directions:
            (self.to_server if direction == "to_server" else self.to_client).began(effect)

    def pump(self) -> None:
        """A toxic has ended."""
        self.to_server.pump()
        self.to_client.pump()

    def _end(self, how: Callable[["End"], None]) -> int:
        dropped = self.to_server.drop() + self.to_client.drop()
        how(self.client)
        how(self.server)
        return dropped

    def _reset_server(self) -> None:
        self.server.reset()
        self.to_client.drop()

    def _reset_client(self) -> None:
        self.client.reset()
        self.to_server.drop()

    def _one_way_ended(self) -> None:
        if self.to_server.finished and self.to_client.finished:
            self.client.close()
            self.server.close()

    def _lost(self, end: "End", by_peer: bool) -> None:
        if by_peer and not self._severed:
            end.out.feed(end="rst")
        self._check_over()

    def _check_over(self) -> None:
        if self.client.gone and self.server.gone and not self._is_over:
            self._is_over = True
            self._over(self)


class End(asyncio.Protocol):
    """One socket of a connection: `out` takes what it reads, `back` writes to it."""

    def __init__(
        self,
        out: Pipe,
        back: Pipe,
        *,
        made: Callable[[], object],
        lost: Callable[["End", bool], object],
    ) -> None:
        self.out, self._back, self._made, self._lost = out, back, made, lost
        self._transport: asyncio.Transport | None = None
        self.ended_by_us = False
        self.gone = False
        """It was connected and is no more, or never will be."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)  # uvloop's is not a subclass
        transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES)
        self.out.source = self._back.sink = transport
        if self.ended_by_us:
            transport.abort()
            return
        self._made()
        self._back.pump()

    @override
    def data_received(self, data: bytes) -> None:
        self.out.feed(data)

    @override
    def eof_received(self) -> bool:
        self.out.feed(end="fin")
        return not self.out.swallows  # the other direction may go on, unless there is none

    @override
    def pause_writing(self) -> None:
        self._back.sink_full(True)

    @override
    def resume_writing(self) -> None:
        self._back.sink_full(False)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.gone = True
        self._lost(self, not self.ended_by_us)

    def close(self) -> None:
        """Send what is written, then FIN."""
        self.ended_by_us = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """FIN, without waiting for a peer that does not read."""
        self.ended_by_us = True
        if self._transport is not None:
            self._transport.abort()

    def reset(self) -> None:
        """RST."""
        if self._transport is not None and not self._transport.is_closing():
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self.abort()
