"""HTTP clients to choose from, all for one host and keep-alive; each asks for a page and gives the decoded body.

`raw` is written for this work: requests are made of bytes, an answer's head is searched for the few things that
matter, a body is put together at most once. It knows Content-Length and chunks, and neither redirects nor proxies.
"""

import asyncio
from typing import Protocol
from urllib.parse import urlsplit

import deflate

HOST = "en.wikipedia.org"

Body = bytes | bytearray


def inflate(body: "bytes | memoryview") -> bytearray:
    """What was compressed as gzip, in one piece; libdeflate is the fastest decoder that there is a wheel of."""
    decoded: bytearray = deflate.gzip_decompress(body)
    return decoded


class Client(Protocol):
    """`fetch` may be called so often at once as the client was opened for."""

    async def open(self) -> None: ...
    def fetch(self, path: str, request_id: str) -> "asyncio.Future[Body]": ...
    async def close(self) -> None: ...


def make(kind: str, endpoint: str, *, at_once: int, coding: str = "gzip") -> Client:
    """`kind` is raw, httptools, aiohttp, or aiohttp igzip."""
    if kind.startswith("aiohttp"):
        return AiohttpClient(endpoint, at_once, coding, igzip="igzip" in kind)
    return RawClient(endpoint, at_once, coding, RawConnection if kind == "raw" else HttptoolsConnection)


class AiohttpClient:
    """As one writes it."""

    def __init__(self, endpoint: str, at_once: int, coding: str, *, igzip: bool) -> None:
        self._endpoint, self._at_once, self._coding, self._igzip = endpoint, at_once, coding, igzip

    async def open(self) -> None:
        import aiohttp

        if self._igzip:
            from isal import isal_zlib

            aiohttp.set_zlib_backend(isal_zlib)
        self._session = aiohttp.ClientSession(
            self._endpoint,
            connector=aiohttp.TCPConnector(limit=self._at_once),
            headers={"Host": HOST, "Accept-Encoding": self._coding},
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def fetch(self, path: str, request_id: str) -> "asyncio.Future[Body]":
        return asyncio.ensure_future(self._fetch(path, request_id))

    async def _fetch(self, path: str, request_id: str) -> bytes:
        async with self._session.get(path, headers={"X-Request-Id": request_id}) as response:
            response.raise_for_status()
            return await response.read()

    async def close(self) -> None:
        await self._session.close()


class RawClient:
    """So many connections, all made at the start; the one that was used last is used next."""

    def __init__(self, endpoint: str, at_once: int, coding: str, connection: "type[RawConnection]") -> None:
        self._address, self._at_once, self._connection = urlsplit(endpoint), at_once, connection
        self._idle: list[RawConnection] = []
        self._head = f" HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: {coding}\r\nUser-Agent: bench\r\nX-Request-Id: "

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(self._at_once):
            await loop.create_connection(
                lambda: self._connection(self._idle, loop), self._address.hostname, self._address.port
            )

    def fetch(self, path: str, request_id: str) -> "asyncio.Future[Body]":
        return self._idle.pop().ask(f"GET {path}{self._head}{request_id}\r\n\r\n".encode())

    async def close(self) -> None:
        for connection in self._idle:
            connection.transport.close()


class RawConnection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, idle: "list[RawConnection]", loop: asyncio.AbstractEventLoop) -> None:
        self._idle, self._loop = idle, loop
        self._parts: list[bytes] = []
        self._missing = 0
        self._gzip = False
        self._answer: asyncio.Future[Body] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._idle.append(self)

    def ask(self, request: bytes) -> "asyncio.Future[Body]":
        self._answer = self._loop.create_future()
        self.transport.write(request)  # type: ignore[attr-defined]
        return self._answer

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._parts.append(data)
            self._missing -= len(data)
            if not self._missing:
                self._end(b"".join(self._parts))
            return
        if self._parts:  # a head in pieces, or chunks
            data = b"".join([*self._parts, data])
            self._parts = []
        at = data.find(b"\r\n\r\n")
        if at < 0:
            self._parts = [data]
            return
        head = data[:at].lower()
        if head[9:12] != b"200":
            self._fail(RuntimeError(head.decode("latin-1")))
            return
        self._gzip = b"\r\ncontent-encoding: gzip" in head
        begin = at + 4
        length_at = head.find(b"\r\ncontent-length: ")
        if length_at < 0:
            self._chunks(data, begin)
            return
        length = int(head[length_at + 18 :].split(b"\r\n", 1)[0])
        have = len(data) - begin
        if have == length:
            self._end(memoryview(data)[begin:])
        else:
            self._parts = [data[begin:]]
            self._missing = length - have

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None:
            self._fail(exc or ConnectionError("closed before the answer's end"))

    def _chunks(self, data: bytes, begin: int) -> None:
        body, at = [], begin
        while (end := data.find(b"\r\n", at)) >= 0:
            length = int(data[at:end], 16)
            if len(data) < end + 4 + length:
                break
            if not length:
                self._end(b"".join(body))
                return
            body.append(data[end + 2 : end + 2 + length])
            at = end + 4 + length
        self._parts = [data]

    def _end(self, body: "bytes | memoryview") -> None:
        self._parts = []
        answer, self._answer = self._answer, None
        self._idle.append(self)
        if answer is not None and not answer.done():
            answer.set_result(inflate(body) if self._gzip else bytes(body))

    def _fail(self, error: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)


class HttptoolsConnection(RawConnection):
    """The same with a parser in C that knows all of HTTP/1.1."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._begin()

    def _begin(self) -> None:
        import httptools

        self._body: list[bytes] = []
        self._gzip = False
        self._parser = httptools.HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"content-encoding":
            self._gzip = value == b"gzip"

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        status, body, gzip = self._parser.get_status_code(), b"".join(self._body), self._gzip
        self._begin()
        self._gzip = gzip
        if status == 200:
            self._end(body)
        else:
            self._fail(RuntimeError(f"status {status}"))
