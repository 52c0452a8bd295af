"""Content codings: the same bytes for the same document in every process, from a stream of any length.

No coding writes a time or a name. How its input is cut can matter to an encoder; so what comes here comes in even
pieces, be it sent at once or kept.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, Literal, Protocol, get_args

import brotli
import zstandard

from mockapi.server.reply import PIECE_BYTES


def even(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of PIECE_BYTES, the last one shorter, whatever the parts are."""
    kept: list[bytes] = []
    kept_bytes = 0
    for part in parts:
        kept.append(part)
        kept_bytes += len(part)
        if kept_bytes < PIECE_BYTES:
            continue
        joined = b"".join(kept) if len(kept) > 1 else part
        whole = kept_bytes - kept_bytes % PIECE_BYTES
        for start in range(0, whole, PIECE_BYTES):
            yield joined[start : start + PIECE_BYTES]
        kept, kept_bytes = [joined[whole:]], kept_bytes - whole
    if kept_bytes:
        yield b"".join(kept)


Coding = Literal["gzip", "deflate", "br", "zstd"]
CODINGS: Final[tuple[Coding, ...]] = get_args(Coding)

_LEVEL: Final = 6  # MediaWiki's, and zlib's own
_GZIP_FORMAT: Final = 31
_ZLIB_FORMAT: Final = 15  # "deflate" is this format (RFC 9110, 8.4.1.2), not a bare deflate stream
_BROTLI_QUALITY: Final = 5
_ZSTD_LEVEL: Final = 3


class _Encoder(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class _Brotli:
    def __init__(self) -> None:
        self._compressor = brotli.Compressor(quality=_BROTLI_QUALITY)

    def compress(self, data: bytes, /) -> bytes:
        packed: bytes = self._compressor.process(data)
        return packed

    def flush(self) -> bytes:
        packed: bytes = self._compressor.finish()
        return packed


def encoded(coding: Coding, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The encoded document; an item for each of `pieces`, often empty, and one more."""
    encoder = _encoder(coding)
    for piece in pieces:
        yield encoder.compress(piece)
    yield encoder.flush()


def _encoder(coding: Coding) -> _Encoder:
    match coding:
        case "gzip":
            return zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_FORMAT)
        case "deflate":
            return zlib.compressobj(_LEVEL, zlib.DEFLATED, _ZLIB_FORMAT)
        case "br":
            return _Brotli()
        case "zstd":
            # Without the size in the frame, as from a proxy that compresses while it sends.
            return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compressobj()
