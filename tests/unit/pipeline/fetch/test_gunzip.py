"""Whatever members a stream has, and wherever it is cut into chunks: what comes out is what Python's gzip reads."""

import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.fetch.body import Gunzip, NotGzipError

PIECE = 1000

_texts = st.binary(max_size=12).filter(lambda text: b"\0" not in text)
_bodies = st.one_of(st.binary(max_size=200), st.builds(lambda text: text * 900, st.binary(min_size=1, max_size=9)))


@st.composite
def members(draw: st.DrawFn) -> bytes:
    """A member with any of the optional fields of a header, as any compressor makes it."""
    compressor = zlib.compressobj(draw(st.sampled_from([0, 1, 6, 9])), zlib.DEFLATED, -15, draw(st.integers(1, 9)))
    body = draw(_bodies)
    deflated = compressor.compress(body) + compressor.flush()
    extra, name, comment = (draw(st.none() | texts) for texts in (st.binary(max_size=40), _texts, _texts))
    flags = sum(bit for bit, field in ((4, extra), (8, name), (16, comment)) if field is not None)
    has_checksum = draw(st.booleans())
    header = b"\x1f\x8b\x08" + bytes([flags | 2 * has_checksum]) + draw(st.binary(min_size=6, max_size=6))
    header += b"" if extra is None else len(extra).to_bytes(2, "little") + extra
    header += b"".join(text + b"\0" for text in (name, comment) if text is not None)
    if has_checksum:
        header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    return header + deflated + zlib.crc32(body).to_bytes(4, "little") + len(body).to_bytes(4, "little")


def inflated(sent: bytes, cuts: list[int]) -> tuple[bytes, bool]:
    """What the chunks become, and whether the stream has ended."""
    decoder = Gunzip(PIECE)
    places = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    body = bytearray()
    for start, end in pairwise(places):
        for piece in decoder.inflated(sent[start:end]):
            assert len(piece) <= PIECE
            body += piece
    return bytes(body), decoder.is_whole


@given(st.lists(members(), min_size=1, max_size=4), st.one_of(st.just(list(range(600))), st.lists(st.integers(0, 900))))
def test_members_in_any_chunks_are_one_body(sent: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(sent)
    assert inflated(stream, cuts) == (gzip.decompress(stream), True)


@given(st.lists(members(), min_size=1, max_size=3), st.data())
def test_a_stream_is_whole_only_where_a_member_ends(sent: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(sent)
    ends = {sum(map(len, sent[:number])) for number in range(1, len(sent) + 1)}
    kept = data.draw(st.integers(0, len(stream)))
    assert inflated(stream[:kept], [kept // 2])[1] == (kept in ends)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"PK\x03\x04", "does not begin"),
        (gzip.compress(b"a") + b"\0\0", "does not begin"),
        (b"\x1f\x8b\x08\xe0" + bytes(6), "reserved"),
        (b"\x1f\x8b\x08\x02" + bytes(8), "header's checksum"),
        (b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 200_000, "header of more than"),
        (gzip.compress(b"abc")[:-8] + bytes(8), "checksum or length"),
        (gzip.compress(b"abc")[:-1] + b"\1", "checksum or length"),
        (gzip.compress(b"abc")[:10] + b"\xff" * 20, "Invalid"),
    ],
    ids=["magic", "second magic", "reserved", "header checksum", "header", "checksum", "length", "deflate"],
)
def test_what_is_no_gzip_is_refused(sent: bytes, why: str) -> None:
    with pytest.raises(NotGzipError, match=why):
        inflated(sent, [])
