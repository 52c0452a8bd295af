"""Reading a response body with a bound on what it becomes when decompressed, and an end that is really its end.

Decompressed here and not by the HTTP client, which takes a gzip stream that was cut off for a whole one: a page that
lost its second half would be published as the page.
"""

import zlib
from typing import Protocol

_CHUNK_BYTES = 256 * 1024
_GZIP = 16 + zlib.MAX_WBITS


class ByteStream(Protocol):
    """What is needed of aiohttp's StreamReader; the bytes are as they were sent."""

    async def read(self, n: int = -1) -> bytes: ...


class BodyTooLargeError(Exception):
    """The body was cut off at the bound."""


class BodyBrokenError(Exception):
    """The body is not what its Content-Encoding says, or ends too early."""


async def read_bounded(stream: ByteStream, limit_bytes: int, *, encoding: str = "identity") -> bytes:
    """The whole body, decompressed. `encoding` is the Content-Encoding; `gzip` and none are known.

    Raises BodyTooLargeError as soon as it is longer than the limit, whatever its headers said; BodyBrokenError.
    """
    if encoding not in ("gzip", "x-gzip", "identity"):
        raise BodyBrokenError(f"Content-Encoding {encoding[:40]!r} was not asked for")
    body = bytearray()
    decoder = None if encoding == "identity" else zlib.decompressobj(_GZIP)
    while chunk := await stream.read(_CHUNK_BYTES):
        # One byte beyond the limit is enough to know; a bomb is not inflated to its end.
        body += chunk if decoder is None else _inflated(decoder, chunk, limit_bytes - len(body) + 1)
        if len(body) > limit_bytes:
            raise BodyTooLargeError(f"body is larger than {limit_bytes} bytes when decoded, and was cut off")
    if decoder is not None and not decoder.eof:
        raise BodyBrokenError("gzip stream was cut off")
    return bytes(body)


def _inflated(decoder: "zlib._Decompress", chunk: bytes, room_bytes: int) -> bytes:
    try:
        inflated = decoder.decompress(chunk, room_bytes)
    except zlib.error as error:
        raise BodyBrokenError(f"not gzip: {error}") from error
    if decoder.unused_data:
        raise BodyBrokenError("gzip stream ends before the body does")
    return inflated
