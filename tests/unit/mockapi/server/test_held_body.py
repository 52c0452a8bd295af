from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES, Body, Held, Streamed

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
