import asyncio
import contextlib
import gzip
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.fetch.body import PIECE_BYTES, BodyBrokenError, BodyTooLargeError, pieces


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


async def joined(stream: Chunks, limit: int, *, encoding: str = "identity") -> bytes:
    return b"".join([piece async for piece in pieces(stream, limit, encoding=encoding)])


async def dropped(stream: Chunks, limit: int) -> None:
    async for _piece in pieces(stream, limit, encoding="gzip"):
        pass


@given(chunks=st.lists(st.binary(max_size=50), max_size=20), limit=st.integers(0, 1000))
def test_a_body_within_the_limit_is_whole_and_any_other_is_refused(chunks: list[bytes], limit: int) -> None:
    body = b"".join(chunks)
    if len(body) <= limit:
        assert asyncio.run(joined(Chunks(chunks), limit)) == body
    else:
        with pytest.raises(BodyTooLargeError, match=f"larger than {limit} bytes"):
            asyncio.run(joined(Chunks(chunks), limit))


@given(body=st.binary(max_size=400), limit=st.integers(0, 500), cuts=st.lists(st.integers(0, 500), max_size=5))
def test_a_compressed_body_is_as_long_as_it_becomes(body: bytes, limit: int, cuts: list[int]) -> None:
    sent = gzip.compress(body)
    places = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    chunks = [sent[start:end] for start, end in pairwise(places)]
    if len(body) <= limit:
        assert asyncio.run(joined(Chunks(chunks), limit, encoding="gzip")) == body
    else:
        with pytest.raises(BodyTooLargeError):
            asyncio.run(joined(Chunks(chunks), limit, encoding="gzip"))


@given(body=st.binary(max_size=400), data=st.data())
def test_a_compressed_body_that_was_cut_off_is_not_taken_for_a_whole_one(body: bytes, data: st.DataObject) -> None:
    sent = gzip.compress(body)
    kept = data.draw(st.integers(0, len(sent) - 1))
    with pytest.raises(BodyBrokenError, match="cut off"):
        asyncio.run(joined(Chunks([sent[:kept]]), 1000, encoding="gzip"))


def test_members_that_become_nothing_leave_other_requests_their_turns() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read() -> bytes:
        task = asyncio.create_task(other())
        body = await joined(Chunks([gzip.compress(b"") * 1000 + gzip.compress(b"all")]), 1000, encoding="gzip")
        task.cancel()
        return body

    assert asyncio.run(read()) == b"all"
    assert turns >= 1000


MEMBER = gzip.compress(b"b")


@pytest.mark.parametrize(
    ("encoding", "chunks"),
    [
        pytest.param("gzip", [b"not gzip at all"], id="no gzip"),
        pytest.param("gzip", [gzip.compress(b"a"), b"no gzip"], id="what follows the first member is not gzip"),
        pytest.param("gzip", [gzip.compress(b"a"), MEMBER[:-1]], id="what follows it is cut"),
        pytest.param("gzip", [gzip.compress(b"a"), MEMBER[:3]], id="what follows it is hardly begun"),
        pytest.param("br", [b""], id="another coding"),
        pytest.param("gzip, gzip", [b""], id="twice"),
    ],
)
def test_what_cannot_be_decoded_is_broken(encoding: str, chunks: list[bytes]) -> None:
    with pytest.raises(BodyBrokenError):
        asyncio.run(joined(Chunks(chunks), 1000, encoding=encoding))


@given(st.binary(max_size=500), st.data())
def test_a_damaged_gzip_stream_never_becomes_another_body(body: bytes, data: st.DataObject) -> None:
    sent = bytearray(gzip.compress(body))
    sent[data.draw(st.integers(0, len(sent) - 1))] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(BodyBrokenError):
        assert asyncio.run(joined(Chunks([bytes(sent)]), 1000, encoding="gzip")) == body, "its header's date, at most"


@settings(max_examples=20)
@given(st.integers(0, 2), st.integers(-2, 2), st.integers(1, 400))
def test_what_one_chunk_becomes_comes_in_pieces(times: int, more: int, cut: int) -> None:
    """Also when a piece, or what was sent, ends in the middle of a repetition."""
    body = bytes(max(0, times * PIECE_BYTES + more)) + b"the end"
    sent = gzip.compress(body)

    async def read() -> list[bytes]:
        return [piece async for piece in pieces(Chunks([sent[:cut], sent[cut:]]), 10 * PIECE_BYTES, encoding="gzip")]

    read_pieces = asyncio.run(read())
    assert b"".join(read_pieces) == body
    assert all(0 < len(piece) <= PIECE_BYTES for piece in read_pieces)


def test_others_have_their_turn_while_one_chunk_is_inflated() -> None:
    turns = 0

    async def read() -> None:
        nonlocal turns

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        assert len(await joined(Chunks([gzip.compress(bytes(20 * PIECE_BYTES))]), 2**30, encoding="gzip")) > 0
        task.cancel()

    asyncio.run(read())
    assert turns >= 19


def test_a_bomb_is_not_inflated_to_its_end() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    assert len(bomb) < 256 * 1024, "it comes in one piece"
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLargeError):
            asyncio.run(dropped(Chunks([bomb]), 50_000_000))
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 3_000_000


def test_a_body_without_end_is_cut_off_soon_after_the_limit() -> None:
    endless = Chunks([bytes(100_000_000)])
    with pytest.raises(BodyTooLargeError):
        asyncio.run(joined(endless, 1_000_000))
    assert endless.given <= 1_000_000 + 256 * 1024
