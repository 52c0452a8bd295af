"""A document in pieces of one length, whatever its parts are.

What an encoder writes may depend on how its input was cut, and what a sender pays on how many pieces there are.
"""

from collections.abc import Iterable, Iterator

from mockapi.server.reply import PIECE_BYTES


def even(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of PIECE_BYTES, the last one shorter."""
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
