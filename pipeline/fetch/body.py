"""Reading a response body with a bound on what it becomes when decompressed."""

from typing import Protocol

_CHUNK_BYTES = 256 * 1024


class ByteStream(Protocol):
    """What is needed of aiohttp's StreamReader; the bytes are already decompressed."""

    async def read(self, n: int = -1) -> bytes: ...


class BodyTooLargeError(Exception):
    """The body was cut off at the bound."""


async def read_bounded(stream: ByteStream, limit_bytes: int) -> bytes:
    """The whole body. Raises BodyTooLargeError as soon as it is longer than the limit, whatever its headers said."""
    chunks: list[bytes] = []
    total = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        total += len(chunk)
        if total > limit_bytes:
            raise BodyTooLargeError(f"body is larger than {limit_bytes} bytes when decoded, and was cut off")
        chunks.append(chunk)
    return b"".join(chunks)
