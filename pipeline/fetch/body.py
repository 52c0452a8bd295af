"""Reading a response body with a bound on what it becomes when decompressed, and an end that is really its end.

Decompressed here and not by the HTTP client, which takes a gzip stream that was cut off for a whole one: a page that
lost its second half would be published as the page. It comes in pieces: a kilobyte of a bomb becomes a megabyte.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from pipeline.fetch.gunzip import Gunzip, NotGzipError

# What is read at once, and what a piece is at most.
PIECE_BYTES = 256 * 1024
GZIP = frozenset({"gzip", "x-gzip"})
"""The content codings that tell where a body ends."""


class ByteStream(Protocol):
    """What is needed of aiohttp's StreamReader; the bytes are as they were sent."""

    async def read(self, n: int = -1) -> bytes:
        """At most `n` bytes, all to the end where it is -1; empty only at the end of the stream."""


class BodyTooLargeError(Exception):
    """The body was cut off at the bound."""


class BodyBrokenError(Exception):
    """The body is not what its Content-Encoding says, or ends too early."""


async def pieces(stream: ByteStream, limit_bytes: float, *, encoding: str = "identity") -> AsyncIterator[bytes]:
    """The body, decompressed, piece by piece, each `PIECE_BYTES` at most. `encoding` is the Content-Encoding; `gzip`
    and none are known.

    Raises BodyTooLargeError as soon as it is longer than the limit, whatever its headers said; BodyBrokenError. The
    limit is infinite where only a header is believed.
    """
    if encoding not in {*GZIP, "identity"}:
        raise BodyBrokenError(f"Content-Encoding {encoding[:40]!r} was not asked for")
    decoder = None if encoding == "identity" else Gunzip(PIECE_BYTES)
    length = 0
    while chunk := await stream.read(PIECE_BYTES):
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
