from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES, Body, Held, Reply, Streamed


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
