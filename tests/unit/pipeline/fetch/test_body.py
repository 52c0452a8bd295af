import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.fetch.body import BodyTooLargeError, read_bounded


class Chunks:
    """A stream that gives its body in pieces, never more than asked for, and counts the bytes it gave."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.given = 0

    async def read(self, n: int = -1) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if n >= 0 and len(piece) > n:
            self._pieces.insert(0, piece[n:])
            piece = piece[:n]
        self.given += len(piece)
        return piece


@given(pieces=st.lists(st.binary(max_size=50), max_size=20), limit=st.integers(0, 1000))
def test_a_body_within_the_limit_is_whole_and_any_other_is_refused(pieces: list[bytes], limit: int) -> None:
    body = b"".join(pieces)
    if len(body) <= limit:
        assert asyncio.run(read_bounded(Chunks(pieces), limit)) == body
    else:
        with pytest.raises(BodyTooLargeError, match=f"larger than {limit} bytes"):
            asyncio.run(read_bounded(Chunks(pieces), limit))


def test_a_body_without_end_is_cut_off_soon_after_the_limit() -> None:
    endless = Chunks([bytes(100_000_000)])
    with pytest.raises(BodyTooLargeError):
        asyncio.run(read_bounded(endless, 1_000_000))
    assert endless.given <= 1_000_000 + 256 * 1024
