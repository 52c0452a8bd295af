import asyncio
import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.delivery import BrokenText, Offset
from mockapi.server.message import Broken, HttpMessage, as_it_is, message
from mockapi.server.reply import PIECE_BYTES, Body, Held, Reply, Streamed
from tests.unit.mockapi.faults.planned import delivery

DATA = b"a page " * 100
TYPE = b'text/html; charset=utf-8; profile="p"'


def made(
    do: dict[str, Any] | None, *, head_only: bool = False, body: Body | None = None, status: int = 200
) -> HttpMessage:
    document = Held(DATA) if body is None else body
    length = () if document.wire_bytes is None else ((b"content-length", str(document.wire_bytes).encode()),)
    reply = Reply(status, ((b"content-type", TYPE), *length, (b"x-request-id", b"1")), document)
    if do is None:
        return as_it_is(reply, head_only=head_only)
    return asyncio.run(message(reply, delivery(do), head_only=head_only))


def header(message: HttpMessage, name: bytes) -> str | None:
    return message.reply.header(name)


def streamed(data: bytes) -> Streamed:
    def pieces() -> Iterator[bytes]:
        yield data

    return Streamed(pieces, None, len(data))


def test_without_a_fault_it_is_the_reply() -> None:
    plain = made(None)
    assert (plain.well_formed, plain.chunked, plain.bodiless) == (True, False, False)
    assert made(None, body=streamed(DATA)).chunked
    assert made(None, head_only=True).bodiless
    assert made(None, status=304).bodiless


@pytest.mark.parametrize(
    ("fault", "body", "says", "well_formed"),
    [
        ("absent", None, None, True),
        ("negative", None, "-1", False),
        ("decoded", None, "700", True),
        ("decoded", Held(gzip.compress(DATA), len(DATA)), "700", False),
        ("compressed", None, None, False),
        ({"off_by": 10}, None, "710", False),
        ({"off_by": -10}, None, "690", False),
        ({"off_by": -9_999}, None, "0", False),
        pytest.param({"off_by": 3}, streamed(DATA), "703", False, id="a body of unknown length is measured"),
    ],
)
def test_a_length_that_lies_needs_the_bare_connection(
    fault: Any, body: Body | None, says: str | None, well_formed: bool
) -> None:
    lie = made({"content_length": fault}, body=body)
    if fault == "compressed":
        says = header(lie, b"content-length")
        assert says is not None
        assert 0 < int(says) < len(gzip.compress(DATA)) + 20
    assert (header(lie, b"content-length"), lie.well_formed) == (says, well_formed)
    assert lie.chunked == (says is None)


@pytest.mark.parametrize(
    "do", [{"content_length": {"off_by": 3}}, {"content_length": "compressed"}, {"truncate": "50%"}]
)
def test_measuring_stops_soon_after_it_is_given_up(do: dict[str, Any]) -> None:
    pieces = 5_000
    given = 0

    async def give_up() -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def made() -> Iterator[bytes]:
            nonlocal given
            for _ in range(pieces):
                given += 1
                loop.call_soon_threadsafe(begun.set)
                yield bytes(10_000)

        reply = Reply(200, ((b"content-type", TYPE),), Streamed(made, None, pieces * 10_000))
        measuring = asyncio.create_task(message(reply, delivery(do), head_only=False))
        await begun.wait()
        measuring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await measuring

    asyncio.run(give_up())  # waits for its threads
    assert 0 < given < pieces


def test_without_a_body_no_length_is_a_lie() -> None:
    head = made({"content_length": "negative"}, head_only=True)
    assert (header(head, b"content-length"), head.well_formed) == ("-1", True)


@pytest.mark.parametrize(
    ("do", "name", "says"),
    [
        ({"content_encoding": "gzip"}, b"content-encoding", "gzip"),
        ({"content_encoding": "identity"}, b"content-encoding", None),
        ({"charset": "iso-8859-1"}, b"content-type", 'text/html; charset=iso-8859-1; profile="p"'),
        ({"charset": "none"}, b"content-type", 'text/html; profile="p"'),
        ({"keep_alive": {"requests": 1, "announce": True}}, b"connection", "close"),
    ],
)
def test_what_other_headers_say(do: dict[str, Any], name: bytes, says: str | None) -> None:
    changed = made(do)
    assert (header(changed, name), changed.well_formed) == (says, True)
    assert header(changed, b"x-request-id") == "1"


def test_broken_text_keeps_its_length() -> None:
    broken = made({"invalid_utf8": 3})
    assert b"".join(broken.reply.body.pieces()).count(b"\xff") == 3
    assert (header(broken, b"content-length"), broken.well_formed) == ("700", True)


@pytest.mark.parametrize(
    ("do", "body", "says", "chunked"),
    [
        ({"truncate": "50%"}, None, "700", False),
        ({"truncate": "50%"}, streamed(DATA), "700", False),
        ({"truncate": {"after": 1, "length": "chunked"}}, None, None, True),
        ({"malformed_chunk": {}}, None, None, True),
        ({"reset": "in body"}, None, "700", False),
        ({"reset": "in body"}, streamed(DATA), None, True),
    ],
)
def test_an_ending_says_how_the_body_is_framed(
    do: dict[str, Any], body: Body | None, says: str | None, chunked: bool
) -> None:
    cut = made(do, body=body)
    assert (header(cut, b"content-length"), cut.chunked, cut.well_formed) == (says, chunked, False)


@given(st.text(max_size=300), st.integers(1, 400), st.integers(0, 400), st.integers(1, 50))
def test_so_many_bytes_are_broken_and_the_rest_stays(text: str, count: int, at: int, piece_bytes: int) -> None:
    data = text.encode()
    pieces = [data[start : start + piece_bytes] for start in range(0, len(data), piece_bytes)]
    body = Streamed(lambda: iter(pieces), len(data), len(data))
    broken = Broken(body, BrokenText(count, Offset(count=at)))
    made = b"".join(broken.pieces())
    assert len(made) == len(data) == broken.wire_bytes == broken.decoded_bytes
    differing = [n for n, (new, old) in enumerate(zip(made, data, strict=True)) if new != old]
    assert len(differing) == min(count, len(data))
    assert {made[n] for n in differing} <= {0xFF}
    assert not differing or differing[-1] - differing[0] == len(differing) - 1


def test_in_the_middle() -> None:
    broken = Broken(Held(b"abcdef"), BrokenText(2, Offset(share=0.5)))
    assert b"".join(broken.pieces()) == b"abc\xff\xfff"
    assert broken.held


def test_a_header_is_found_by_its_lower_case_name() -> None:
    reply = Reply.of(200, ((b"content-type", b"text/html"), (b"vary", b"x")), b"page")
    assert (reply.header(b"vary"), reply.header(b"etag")) == ("x", None)


def test_the_real_length_is_that_before_the_coding() -> None:
    assert Reply.of(200, (), b"page").real_bytes == 4
    packed = Held(b"packed", 600)
    assert (packed.wire_bytes, packed.decoded_bytes, Reply(200, (), packed).real_bytes) == (6, 600, 600)


lengths = st.integers(0, 3 * PIECE_BYTES)


def fits(body: Body, data: bytes) -> bool:
    pieces = list(body.pieces())
    return b"".join(pieces) == data and all(1 <= len(piece) <= PIECE_BYTES for piece in pieces)


@given(lengths)
def test_a_held_body_is_cut_into_pieces(length: int) -> None:
    body = Held(bytes(length))
    assert fits(body, bytes(length))
    assert (body.held, body.wire_bytes, body.decoded_bytes) == (True, length, length)


@given(st.lists(lengths, max_size=4))
def test_a_streamed_body_is_made_anew_each_time(lengths: list[int]) -> None:
    def make() -> Iterator[bytes]:
        yield from map(bytes, lengths)

    body = Streamed(make, None, sum(lengths))
    assert fits(body, bytes(sum(lengths)))
    assert fits(body, bytes(sum(lengths)))
    assert (body.held, body.wire_bytes, body.decoded_bytes) == (False, None, sum(lengths))
