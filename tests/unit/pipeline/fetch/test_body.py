import asyncio
import gzip
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.fetch.body import BodyBrokenError, BodyTooLargeError, read_bounded


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


@given(body=st.binary(max_size=400), limit=st.integers(0, 500), cuts=st.lists(st.integers(0, 500), max_size=5))
def test_a_compressed_body_is_as_long_as_it_becomes(body: bytes, limit: int, cuts: list[int]) -> None:
    sent = gzip.compress(body)
    places = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    pieces = [sent[start:end] for start, end in pairwise(places)]
    if len(body) <= limit:
        assert asyncio.run(read_bounded(Chunks(pieces), limit, encoding="gzip")) == body
    else:
        with pytest.raises(BodyTooLargeError):
            asyncio.run(read_bounded(Chunks(pieces), limit, encoding="gzip"))


@given(body=st.binary(max_size=400), data=st.data())
def test_a_compressed_body_that_was_cut_off_is_not_taken_for_a_whole_one(body: bytes, data: st.DataObject) -> None:
    sent = gzip.compress(body)
    kept = data.draw(st.integers(0, len(sent) - 1))
    with pytest.raises(BodyBrokenError, match="cut off"):
        asyncio.run(read_bounded(Chunks([sent[:kept]]), 1000, encoding="gzip"))


def test_a_second_stream_after_the_first_is_not_dropped_in_silence() -> None:
    with pytest.raises(BodyBrokenError, match="ends before"):
        asyncio.run(read_bounded(Chunks([gzip.compress(b"a"), gzip.compress(b"b")]), 1000, encoding="gzip"))


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"not gzip at all"), ("br", b""), ("gzip, gzip", b"")])
def test_what_cannot_be_decoded_is_broken(encoding: str, body: bytes) -> None:
    with pytest.raises(BodyBrokenError):
        asyncio.run(read_bounded(Chunks([body]), 1000, encoding=encoding))


def test_a_bomb_is_not_inflated_to_its_end() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    assert len(bomb) < 256 * 1024, "it comes in one piece"
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLargeError):
            asyncio.run(read_bounded(Chunks([bomb]), 1_000_000, encoding="gzip"))
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 5_000_000


def test_a_body_without_end_is_cut_off_soon_after_the_limit() -> None:
    endless = Chunks([bytes(100_000_000)])
    with pytest.raises(BodyTooLargeError):
        asyncio.run(read_bounded(endless, 1_000_000))
    assert endless.given <= 1_000_000 + 256 * 1024
