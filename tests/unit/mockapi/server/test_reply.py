from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES, Body, Held, Reply, Streamed


def test_a_header_is_found_by_its_lower_case_name() -> None:
    reply = Reply.of(200, ((b"content-type", b"text/html"), (b"vary", b"x")), b"page")
    assert (reply.header(b"vary"), reply.header(b"etag")) == ("x", None)


def test_the_real_length_is_that_before_the_coding() -> None:
    assert Reply.of(200, (), b"page").real_bytes == 4
    assert Reply(200, (), Held(b"zip", 4000)).real_bytes == 4000


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


def test_an_encoded_body_knows_both_lengths() -> None:
    body = Held(b"packed", 600)
    assert (body.wire_bytes, body.decoded_bytes) == (6, 600)


def test_bodies_are_values() -> None:
    assert Held(b"a") == Held(b"a", 1)
    assert Held(b"a") != Held(b"a", 2)
