"""A client for loopback that costs little beside a server in Python: raw requests, answers counted in bytes.

Of each path the length of an answer is learnt first; after that an answer is over when so many bytes have come.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """How many answers came in how long."""

    answers: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.answers / self.seconds


@dataclass(frozen=True)
class Ask:
    """A request as bytes, and the length of its answer, head included."""

    request: bytes
    answer_bytes: int


class _Client(asyncio.Protocol):
    def __init__(self, asks: Sequence[Ask], first: int, until_s: float) -> None:
        self._asks = asks
        self._next = first
        self._until_s = until_s
        self._missing = 0
        self.answers = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        ask = self._asks[self._next % len(self._asks)]
        self._next += 1
        self._missing = ask.answer_bytes
        self._transport.write(ask.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing:
            return
        self.answers += 1
        if time.perf_counter() < self._until_s:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if not self.over.done():
            self.over.set_result(None)


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: benchmark\r\n\r\n".encode()


async def learn(port: int, path: str) -> Ask:
    """Asks once for `path`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(path))
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode("latin-1"))
    headers = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if line)
    body_bytes = int(headers[b"content-length"])
    await reader.readexactly(body_bytes)
    writer.close()
    return Ask(_request(path), len(head) + body_bytes)


async def load(port: int, asks: Sequence[Ask], *, clients: int, seconds: float) -> Load:
    """Each of `clients` asks one after the other on a connection of its own."""
    loop = asyncio.get_running_loop()
    start_s = time.perf_counter()
    made = []
    for n in range(clients):
        _, client = await loop.create_connection(
            lambda n=n: _Client(asks, n, start_s + seconds),
            "127.0.0.1",
            port,  # type: ignore[misc]
        )
        made.append(client)
    await asyncio.gather(*(client.over for client in made))
    took_s = time.perf_counter() - start_s
    return Load(sum(client.answers for client in made), took_s)
