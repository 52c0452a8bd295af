from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.pages.coding import even


@given(st.lists(st.integers(0, 2 * PIECE_BYTES + 1), max_size=6))
def test_all_pieces_but_the_last_have_one_length(lengths: list[int]) -> None:
    parts = [bytes([number]) * length for number, length in enumerate(lengths)]
    pieces = list(even(parts))
    assert b"".join(pieces) == b"".join(parts)
    assert all(len(piece) == PIECE_BYTES for piece in pieces[:-1])
    assert all(1 <= len(piece) <= PIECE_BYTES for piece in pieces[-1:])


def test_a_document_of_some_pieces_is_never_joined_as_a_whole() -> None:
    parts = iter([bytes(PIECE_BYTES), bytes(PIECE_BYTES)])
    next(even(parts))
    assert len(list(parts)) == 1
