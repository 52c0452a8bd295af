"""The connection below ASGI: uvicorn's protocol, which lets an application reach the transport of its request.

    scope["extensions"]["mockapi"]["wire"] ──> Wire: raw bytes, FIN, RST, no more reading, the request's number

A Wire is good for one request. Its writer has taken the answer over: nothing more is to be sent by ASGI,
and the connection ends with `finish` or `reset`.
"""

import array
import asyncio
import fcntl
import socket
import struct
import sys
import termios
import weakref
from collections.abc import Callable
from typing import Any, Final

from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_HEAD_BYTES: Final = 256 * 1024

_EXTENSION: Final = "mockapi"
_WIRE: Final = "wire"
_LINGER_NOT: Final = struct.pack("ii", 1, 0)
_TCP_ESTABLISHED: Final = 1
_TCP_CLOSE: Final = 7
_FAREWELL: Final = ((b"connection", b"close"),)
_KEPT: Final = (b"connection", b"keep-alive")
_TCP_INFO: Final[int | None] = getattr(socket, "TCP_INFO", None)
_FIRST_WAIT_S: Final = 0.001
_LONGEST_WAIT_S: Final = 0.05
_HEAD_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)


class WireProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a Wire in each scope, a bound on the head of a request, and an end without delay.

    It also keeps a connection of HTTP/1.0 for a client that asks for that, and goes on answering one that the client
    has closed for its own part. `half_closed` is whether it has.
    """

    half_closed = False
    _requests = 0
    _wire: "Wire | None" = None
    _in_head = False
    _head_bytes = 0
    _before: "weakref.WeakSet[RequestResponseCycle] | None" = None
    _when_lost: list[Callable[[], None]] | None = None

    def on_message_begin(self) -> None:
        """Called by the parser at a request's first byte; makes its Wire."""
        super().on_message_begin()
        self._requests += 1
        self._in_head, self._head_bytes = True, 0
        self._wire = Wire(self, self._requests)
        self.scope["extensions"] = {_EXTENSION: {_WIRE: self._wire}}

    def on_headers_complete(self) -> None:
        """Called by the parser before the application runs; ties the Wire to its request."""
        self._in_head = False
        if self.cycle is not None and not self.cycle.response_complete:
            if self._before is None:
                self._before = weakref.WeakSet()
            self._before.add(self.cycle)
        super().on_headers_complete()
        if self._wire is not None:
            self._wire.belong_to(self.cycle)
        if self.scope["http_version"] == "1.0" and self.parser.should_keep_alive():
            self.cycle.keep_alive = True
            self.cycle.default_headers = [*self.cycle.default_headers, _KEPT]

    def eof_received(self) -> bool:  # type: ignore[override] # uvicorn closes the connection; True keeps it
        """Keeps a connection whose client closed its own part, for the answers to the requests that came in whole."""
        if self.cycle is None or self.cycle.response_complete:
            return False
        waiting = [*(cycle for cycle in self._before or () if not cycle.response_complete), self.cycle]
        if self.cycle.more_body:
            self.cycle.disconnected = True
        self.half_closed = not all(cycle.disconnected for cycle in waiting)
        for cycle in waiting:
            cycle.message_event.set()
        return self.half_closed

    def on_response_complete(self) -> None:
        """Called at the end of an answer; closes a half-closed connection behind the last one that is due."""
        if self.half_closed and all(cycle.disconnected for cycle, _ in self.pipeline):
            self.transport.close()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells every request that the client has disconnected. uvicorn tells the newest, and of those that a client
        sends without waiting for answers that is not the one being answered.
        """
        super().connection_lost(exc)
        for ended in self._when_lost or ():
            ended()
        self._when_lost = None
        for cycle in self._before or ():
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def when_lost(self, ended: Callable[[], None]) -> None:
        """Calls it once, when the connection has ended."""
        self._when_lost = [*(self._when_lost or ()), ended]

    def data_received(self, data: bytes) -> None:
        """Refuses, with 431, a head that does not end."""
        super().data_received(data)
        if not self._in_head:
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_HEAD_TOO_LARGE)
            self.transport.close()

    def shutdown(self) -> None:
        """Ends at once. uvicorn would wait for the request and then answer 500; a mock that ends is a peer gone."""
        self.transport.abort()


class Wire:
    """One request's hold on its connection. `number` counts the requests that the connection carried, this included."""

    __slots__ = ("_cycle", "_protocol", "number")

    def __init__(self, protocol: WireProtocol, number: int) -> None:
        self._protocol = protocol
        self.number = number
        self._cycle: weakref.ref[RequestResponseCycle] | None = None

    def belong_to(self, cycle: RequestResponseCycle) -> None:
        """The exchange that this one is of; it has the scope, and the scope the wire."""
        # Weakly, for a circle in each request would have to wait for the garbage collector.
        self._cycle = weakref.ref(cycle)

    @property
    def connection(self) -> WireProtocol:
        """What all requests of the connection have in common."""
        return self._protocol

    @property
    def cycle(self) -> RequestResponseCycle | None:
        """None before the head was read, and once all is over."""
        return None if self._cycle is None else self._cycle()

    @property
    def first_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """What the server puts before the headers of any answer."""
        cycle = self.cycle
        return tuple(self._protocol.server_state.default_headers if cycle is None else cycle.default_headers)

    @property
    def last_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """What it puts behind them: a farewell if the client wants no other answer."""
        cycle = self.cycle
        return () if cycle is None or cycle.keep_alive else _FAREWELL

    @property
    def gone(self) -> bool:
        """Whether the connection has ended, by whomever."""
        cycle, protocol = self.cycle, self._protocol
        if protocol.transport.is_closing() or (cycle is not None and cycle.disconnected):
            return True
        # Nothing is read from a half-closed connection, so nothing else tells that its client reset it.
        return protocol.half_closed and self._tcp_state() == _TCP_CLOSE

    @property
    def reads_chunks(self) -> bool:
        """Whether the client knows a chunked body: one of HTTP/1.0 does not."""
        cycle = self.cycle
        return cycle is None or cycle.scope["http_version"] != "1.0"

    def until_half_closed(self, receive: Receive) -> Receive:
        """`receive` for a request that a fault holds back: the connection ends once the client has closed its own part.

        A client that gave up closes it too, and nothing tells the two apart before something is sent.
        """

        async def receive_while_open() -> Message:
            message = await receive()
            if not self._protocol.half_closed:
                return message
            self.finish()
            return {"type": "http.disconnect"}

        return receive_while_open

    def announce_end(self) -> None:
        """The answer to come is the last of the connection, and says so."""
        cycle = self.cycle
        if cycle is not None:
            cycle.keep_alive = False
            cycle.default_headers = self._protocol.server_state.default_headers

    async def write(self, data: bytes) -> None:
        """Sends `data` as they are; waits while too much is waiting to leave. Nothing happens once it is gone."""
        if self.gone:
            return
        cycle = self.cycle
        if cycle is not None:
            cycle.response_started = True
        self._protocol.transport.write(data)
        if self._protocol.flow.write_paused:
            await self._protocol.flow.drain()

    async def answer(self, head: bytes, body: bytes) -> bool:
        """Sends a whole answer, which fits what its head says; the connection goes on as with any other. False when it
        was gone.
        """
        cycle, protocol = self.cycle, self._protocol
        if cycle is None:
            raise AssertionError("no request")
        if protocol.flow.write_paused:
            await protocol.flow.drain()
        if self.gone:
            self._end()
            return False
        protocol.transport.write(head)
        if body:
            protocol.transport.write(body)
        if not await self.received():
            self._end()
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            protocol.transport.close()
        cycle.on_response()
        return True

    async def received(self) -> bool:
        """Whether the client is there, as far as that can be known; a half-closed one resets what it does not take."""
        if self._protocol.half_closed:
            await self.settled()
        return not self.gone

    async def settled(self) -> None:
        """Waits until all that was written has reached the peer's machine, or the connection has ended."""
        wait_s = _FIRST_WAIT_S
        while not self.gone and (self._protocol.transport.get_write_buffer_size() or _unacknowledged(self._socket)):
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def finish(self) -> None:
        """Ends the connection with FIN, behind what was written."""
        self._end()
        if not self._protocol.transport.is_closing():
            self._protocol.transport.close()

    def reset(self) -> None:
        """Ends the connection with RST; what has not reached the peer by now is lost."""
        self._end()
        if not self._protocol.transport.is_closing():
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
            self._protocol.transport.abort()

    def stop_reading(self) -> None:
        """Reads no more; `left` then tells whether the peer has gone. Where the system could not say, it reads on."""
        if _TCP_INFO is not None:
            self._protocol.flow.pause_reading()

    @property
    def left(self) -> bool:
        """Whether the peer has ended the connection, also while nothing is read from it."""
        if self.gone or _TCP_INFO is None:
            return self.gone
        return self._tcp_state() != _TCP_ESTABLISHED

    def _tcp_state(self) -> int | None:
        return None if _TCP_INFO is None else int(self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0])

    @property
    def _socket(self) -> Any:
        """A socket, or uvloop's stand-in for one."""
        return self._protocol.transport.get_extra_info("socket")

    def _end(self) -> None:
        # For uvicorn the client has disconnected: it neither expects an answer nor makes up one of its own.
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.response_started = cycle.disconnected = True
            cycle.message_event.set()


def wire_of(scope: Scope) -> Wire | None:
    """The request's Wire; None under another server."""
    wire = scope.get("extensions", {}).get(_EXTENSION, {}).get(_WIRE)
    return wire if isinstance(wire, Wire) else None


def _unacknowledged(connection: Any) -> int:
    if sys.platform != "linux":
        return 0  # elsewhere the request means something else
    count = array.array("i", [0])
    fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, count)
    return count[0]
