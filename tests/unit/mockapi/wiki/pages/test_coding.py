import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded, even
from mockapi.wiki.pages.document import Document
from tests.unit.mockapi.wiki.pages.documents import decode


@pytest.mark.parametrize("coding", CODINGS)
@given(pieces=st.lists(st.binary(max_size=200)))
def test_a_decoder_gives_the_document_back(coding: Coding, pieces: list[bytes]) -> None:
    assert decode(coding, b"".join(encoded(coding, pieces))) == b"".join(pieces)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_long_document_comes_back_too(located: Located, coding: Coding) -> None:
    document = Document(1, located, Block(1_000_000, 65_536))
    packed = b"".join(encoded(coding, document.pieces()))
    assert decode(coding, packed) == b"".join(document.pieces())


@given(st.binary(max_size=100_000), st.integers(1, 70_000))
def test_gzip_does_not_depend_on_how_its_input_is_cut(data: bytes, cut: int) -> None:
    packed = b"".join(encoded("gzip", [data[:cut], data[cut:]]))
    assert packed == b"".join(encoded("gzip", [data]))
    assert packed[4:8] == bytes(4)


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
