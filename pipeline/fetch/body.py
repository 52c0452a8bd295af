"""Reading a response body with a bound on what it becomes when decompressed, and an end that is really its end.

Decompressed here and not by the HTTP client, which takes a gzip stream that was cut off for a whole one: a page that
lost its second half would be published as the page. It comes in pieces: a kilobyte of a bomb becomes a megabyte.
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

from isal import isal_zlib

_RAW = -isal_zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b\x08"
_FIXED_BYTES, _TRAILER_BYTES = 10, 8
_HEADER_CHECKSUM, _EXTRA, _NAME, _COMMENT, _RESERVED = 2, 4, 8, 16, 0xE0
# An extra field has 64 KiB at most; a name and a comment have no end of their own.
_MOST_HEADER_BYTES = 128 * 1024
# What is read at once, and what a piece is at most.
PIECE_BYTES = 256 * 1024


class NotGzipError(ValueError):
    """The bytes are no gzip stream."""


class Gunzip:
    """A gzip stream, which may have several members, one behind the other."""

    def __init__(self, piece_bytes: int) -> None:
        """`piece_bytes` is what a piece has at most."""
        self._piece_bytes = piece_bytes
        self._waiting = bytearray()  # of a header or a trailer, until it is whole
        self._in_member = False
        self._began = False
        self._checksum: int = 0
        self._length: int = 0
        self._deflated = isal_zlib.decompressobj(_RAW)

    @property
    def is_whole(self) -> bool:
        """Whether the last member has ended, trailer included."""
        return self._began and not self._in_member and not self._waiting

    def inflated(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces of one chunk; an empty one between two members, as thousands of them may become nothing. Raises
        NotGzipError.
        """
        while chunk:
            if not self._in_member:
                chunk = self._past_header(chunk)
            elif self._deflated.eof:
                chunk = self._past_trailer(chunk)
                if chunk:
                    yield b""
            else:
                try:
                    piece = self._deflated.decompress(chunk, self._piece_bytes)
                except isal_zlib.error as error:  # type: ignore[misc] # its stub takes the class for an instance
                    raise NotGzipError(str(error)) from error
                chunk = self._deflated.unused_data if self._deflated.eof else self._deflated.unconsumed_tail
                if piece:
                    self._checksum = isal_zlib.crc32(piece, self._checksum)
                    self._length += len(piece)
                    yield piece

    def _begin_member(self) -> None:
        self._deflated = isal_zlib.decompressobj(_RAW)
        self._checksum = self._length = 0

    def _past_header(self, chunk: bytes) -> bytes:
        """The bytes behind the header; none until it is complete."""
        self._waiting += chunk
        length = _header_bytes(self._waiting)
        if length is None:
            if len(self._waiting) > _MOST_HEADER_BYTES:
                raise NotGzipError(f"a header of more than {_MOST_HEADER_BYTES} bytes")
            return b""
        content = bytes(self._waiting[length:])
        self._waiting.clear()
        self._in_member = self._began = True
        return content

    def _past_trailer(self, chunk: bytes) -> bytes:
        missing = _TRAILER_BYTES - len(self._waiting)
        self._waiting += chunk[:missing]
        if len(self._waiting) == _TRAILER_BYTES:
            checksum, length = struct.unpack("<II", self._waiting)
            if checksum != self._checksum or length != self._length & 0xFFFFFFFF:
                raise NotGzipError("its checksum or length is not that of the content")
            self._waiting.clear()
            self._in_member = False
            self._begin_member()
        return chunk[missing:]


def gunzipped(data: bytes) -> bytes:
    """A whole gzip stream, of any number of members. Raises NotGzipError."""
    decoder = Gunzip(PIECE_BYTES)
    content = b"".join(decoder.inflated(data))
    if not decoder.is_whole:
        raise NotGzipError("it was cut off")
    return content


def _header_bytes(data: bytes | bytearray) -> int | None:
    """The length of the header that `data` begins with; None while it is not whole. Raises NotGzipError."""
    if not _MAGIC.startswith(data[:3]) and not data.startswith(_MAGIC):
        raise NotGzipError("a member does not begin as one")
    if len(data) < _FIXED_BYTES:
        return None
    flags, end = data[3], _FIXED_BYTES
    if flags & _RESERVED:
        raise NotGzipError("a header has flags that are reserved")
    if flags & _EXTRA:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            end = data.find(b"\0", end) + 1
            if not end:
                return None
    if flags & _HEADER_CHECKSUM:
        stated = data[end : end + 2]
        end += 2
        if end <= len(data) and int.from_bytes(stated, "little") != isal_zlib.crc32(data[: end - 2]) & 0xFFFF:
            raise NotGzipError("a header's checksum is not that of the header")
    return end if end <= len(data) else None


GZIP = frozenset({"gzip", "x-gzip"})
"""The content codings that tell where a body ends."""


class ByteStream(Protocol):
    """The part of aiohttp's StreamReader that is needed here; the bytes are as they were sent."""

    async def read(self, n: int = -1) -> bytes:
        """At most `n` bytes, all to the end where it is -1; empty only at the end of the stream."""


class BodyTooLargeError(Exception):
    """The body was cut off at the bound."""


class BodyBrokenError(Exception):
    """The body is not what its Content-Encoding says, or ends too early."""


async def pieces(
    stream: ByteStream,
    limit_bytes: float,
    *,
    encoding: str = "identity",
    sent: Callable[[bytes], None] | None = None,
) -> AsyncIterator[bytes]:
    """The body, decompressed, piece by piece, each `PIECE_BYTES` at most. `encoding` is the Content-Encoding; `gzip`
    and none are known. `sent` is called with each chunk as it came.

    Raises BodyTooLargeError as soon as it is longer than the limit, whatever its headers said; BodyBrokenError. The
    limit is infinite where only a header is believed.
    """
    if encoding not in {*GZIP, "identity"}:
        raise BodyBrokenError(f"Content-Encoding {encoding[:40]!r} was not asked for")
    decoder = None if encoding == "identity" else Gunzip(PIECE_BYTES)
    length = 0
    while chunk := await stream.read(PIECE_BYTES):
        if sent is not None:
            sent(chunk)
        try:
            for number, piece in enumerate([chunk] if decoder is None else decoder.inflated(chunk)):
                length += len(piece)
                if length > limit_bytes:
                    raise BodyTooLargeError(f"body is larger than {limit_bytes} bytes when decoded, and was cut off")
                if number:
                    await asyncio.sleep(0)  # other requests have their turn while one chunk becomes many pieces
                if piece:
                    yield piece
        except NotGzipError as error:
            raise BodyBrokenError(f"not gzip: {error}") from error
    if decoder is not None and not decoder.is_whole:
        raise BodyBrokenError("gzip stream was cut off")
