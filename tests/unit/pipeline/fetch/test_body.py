"""Bodies and header fields of answers, in every form that HTTP allows and wherever a stream is cut."""

import asyncio
import contextlib
import gzip
import tracemalloc
import zlib
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from pipeline.fetch.body import PIECE_BYTES, BodyBrokenError, BodyTooLargeError, Gunzip, NotGzipError, pieces
from pipeline.fetch.header_fields import content_coding, elements, media_type, retry_after_s

PIECE = 1000

_texts = st.binary(max_size=12).filter(lambda text: b"\0" not in text)
_bodies = st.one_of(st.binary(max_size=200), st.builds(lambda text: text * 900, st.binary(min_size=1, max_size=9)))
NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)


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


def headers(name: str, *lines: str) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict([(name, line) for line in lines]))


SEVEN_S = [
    *("Mon, 02 Mar 2026 09:00:07 GMT", "Monday, 02-Mar-26 09:00:07 GMT", "Mon Mar  2 09:00:07 2026"),
    *("mon, 02 mar 2026 09:00:07 gmt", '"Mon, 02 Mar 2026 09:00:07 GMT"', "Mon, 02 Mar 2026 09:00:07 -0000"),
    *("Mon, 02 Mar 2026 10:00:07 +0100", "7,"),
]
LONG_AGO = ("Mon, 02 Mar 2020 09:00:00 GMT", "Monday, 02-Mar-20 09:00:00 GMT")


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ((), None),
        (("0",), 0.0),
        *(((line,), 120.0) for line in ("120", ' "120" ', "7, 120")),
        (("7", "120"), 120.0),
        (("soon", "7"), 7.0),
        *(((line,), 7.0) for line in SEVEN_S),
        *(((line,), 0.0) for line in LONG_AGO),
        (("7", "Mon, 02 Mar 2026 09:01:00 GMT"), 60.0),
        *(((line,), None) for line in ("", ",", "1.5", "-5")),
    ],
)
def test_retry_after_in_all_its_forms(lines: tuple[str, ...], seconds: float | None) -> None:
    assert retry_after_s(headers("retry-AFTER", *lines), lambda: NOW) == seconds


@given(st.text(max_size=60) | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ ([+-]\d+|GMT|)"))
def test_no_retry_after_raises(value: str) -> None:
    seconds = retry_after_s(headers("Retry-After", value), lambda: NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html", "text/html"),
        ("Text/HTML;charset=utf-8", "text/html"),
        (' text/html ; charset="UTF-8" ; profile="https://w.example/HTML/2.8.0"', "text/html"),
        ("text/html, text/html; charset=utf-8", "text/html"),
        ("application/json", "application/json"),
        ("", ""),
    ],
)
def test_media_type_has_no_parameters(value: str, expected: str) -> None:
    assert media_type(value) == expected


@pytest.mark.parametrize(
    ("lines", "coding"),
    [
        ((), "identity"),
        (("",), "identity"),
        (("Identity",), "identity"),
        (("GZIP",), "gzip"),
        (("identity, gzip",), "gzip"),
        (("gzip ,",), "gzip"),
        (("identity", "gzip"), "gzip"),
        (("x-gzip",), "x-gzip"),
        (("gzip, gzip",), "gzip, gzip"),
    ],
)
def test_content_coding_is_what_has_to_be_decoded(lines: tuple[str, ...], coding: str) -> None:
    assert content_coding(headers("Content-Encoding", *lines)) == coding


def test_elements_of_all_lines() -> None:
    assert elements(headers("X", '5, "6" ,', "7"), "x") == ["5", "6", "7"]


PAGE = b"<p>"
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
HTML = b"Content-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (b'content-type:TEXT/html;charset="UTF-8"\r\nCONTENT-REVISION-ID: 5', PAGE),
        (HTML + b'Content-Revision-Id: "5"', PAGE),
        (HTML + b"Content-Revision-Id: 5, 5", PAGE),
        (HTML + b"Content-Revision-Id: 5\r\nContent-Revision-Id: 5", PAGE),
        (HTML + b"Content-Revision-Id:  5\r\nContent-Encoding:", PAGE),
        (HTML + b"Content-Revision-Id: 5\r\nContent-Encoding: identity, GZip", gzip.compress(PAGE, mtime=0)),
    ],
)
def test_the_page_is_read_whatever_the_form_of_its_headers(fetching_bytes: Any, fields: bytes, body: bytes) -> None:
    answer = HEAD + b"Content-Length: %d\r\n%b\r\n\r\n%b" % (len(body), fields, body)
    assert fetching_bytes(answer, fetch={"total_requests": 1})[0].html.text == "<p>"


def test_two_revisions_in_the_header_are_not_the_page(fetching_bytes: Any) -> None:
    fields = b"Content-Length: 3\r\nContent-Type: text/html\r\nContent-Revision-Id: 5, 6\r\n\r\n<p>"
    failure = fetching_bytes(HEAD + fields, fetch={"total_requests": 1})[0].failure
    assert "not MediaWiki's page: revision 5, 6" in failure.message
