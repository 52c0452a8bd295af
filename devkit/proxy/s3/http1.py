"""A parser of HTTP/1.1 that only finds where messages end: bytes are passed on as they came."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

PIECE_BYTES: Final = 64 << 10
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})\s*(?:;.*)?\r\n")
_REQUEST = re.compile(r"([A-Z]+) (\S+) HTTP/1\.[01]", re.ASCII)
_STATUS = re.compile(r"HTTP/1\.[01] (\d{3})(?: .*)?", re.ASCII)
_BODILESS: Final = (204, 304)


class HttpError(Exception):
    """Bytes that are not the HTTP/1.1 this understands, or a connection that ended within a message."""


@dataclass(frozen=True)
class Head:
    """The lines before a body: as they came (`raw`) and as they are understood; names are in lower case."""

    raw: bytes
    first: str
    headers: Mapping[str, str]

    @property
    def closes(self) -> bool:
        """Whether the connection ends after the message."""
        return "close" in self.headers.get("connection", "").lower() or "HTTP/1.0" in self.first

    @property
    def content_length(self) -> int | None:
        """In bytes, None without the header. Raises HttpError when it is not a number."""
        text = self.headers.get("content-length")
        if text is None:
            return None
        if not text.isascii() or not text.isdigit():
            raise HttpError(f"Content-Length {text!r} is not a number")
        return int(text)

    @property
    def chunked(self) -> bool:
        """Where it is, `content_length` does not count (RFC 9112, section 6.3)."""
        return "chunked" in self.headers.get("transfer-encoding", "").lower()


@dataclass(frozen=True)
class RequestHead(Head):
    """The request line and headers; `target` is path and query as they were sent."""

    method: str
    target: str

    @property
    def expects_continue(self) -> bool:
        """Whether the client sends the body only after status 100."""
        return self.headers.get("expect", "").lower() == "100-continue"


@dataclass(frozen=True)
class ResponseHead(Head):
    """The status line and headers."""

    status: int

    def bodiless(self, method: str) -> bool:
        """Whether no body follows, whatever the headers say; `method` is the request's (RFC 9112, section 6.3)."""
        return method == "HEAD" or self.status < 200 or self.status in _BODILESS

    def lasts_to_end(self, method: str) -> bool:
        """Whether the body lasts until the connection ends."""
        return not self.bodiless(method) and not self.chunked and self.content_length is None


async def read_request_head(reader: asyncio.StreamReader) -> RequestHead | None:
    """None when the client has ended the connection between two requests."""
    raw = await _read_head(reader)
    if raw is None:
        return None
    first, headers = _lines(raw)
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise HttpError(f"{first!r} is not the first line of a request")
    return RequestHead(raw, first, headers, match[1], match[2])


async def read_response_head(reader: asyncio.StreamReader) -> ResponseHead:
    """The head of the next answer. Raises HttpError when there is none, or it is not HTTP/1."""
    raw = await _read_head(reader)
    if raw is None:
        raise HttpError("the store ended the connection without an answer")
    first, headers = _lines(raw)
    match = _STATUS.fullmatch(first)
    if match is None:
        raise HttpError(f"{first!r} is not the first line of an answer")
    return ResponseHead(raw, first, headers, int(match[1]))


async def read_body(head: Head, reader: asyncio.StreamReader, *, until_end: bool) -> AsyncIterator[bytes]:
    """The body as it is on the wire, the framing of chunks included, piece by piece.

    Without a length it goes on to the end of the connection if `until_end` (an answer), else it is empty (a request).
    """
    if head.chunked:
        async for piece in _read_chunks(reader):
            yield piece
    elif (length := head.content_length) is not None:
        async for piece in _read_length(reader, length):
            yield piece
    elif until_end:
        while piece := await reader.read(PIECE_BYTES):
            yield piece


async def _read_chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        line = await reader.readuntil(b"\r\n")
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None:
            raise HttpError(f"{line[:80]!r} is not the size of a chunk")
        yield line
        size = int(match[1], 16)
        if size == 0:
            break
        async for piece in _read_length(reader, size + 2):
            yield piece
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":  # trailers
        yield line
    yield line


async def _read_length(reader: asyncio.StreamReader, length: int) -> AsyncIterator[bytes]:
    while length:
        piece = await reader.read(min(length, PIECE_BYTES))
        if not piece:
            raise HttpError(f"the connection ended {length} bytes before the end of a body")
        length -= len(piece)
        yield piece


async def _read_head(reader: asyncio.StreamReader) -> bytes | None:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise HttpError("the connection ended within a head") from None
        return None
    except asyncio.LimitOverrunError:
        raise HttpError("a head is too long") from None


def _lines(raw: bytes) -> tuple[str, Mapping[str, str]]:
    first, *rest = raw[:-4].decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in rest:
        name, colon, value = line.partition(":")
        if not colon:
            raise HttpError(f"{line[:80]!r} is not a header")
        headers[name.lower()] = value.strip()
    return first, MappingProxyType(headers)
