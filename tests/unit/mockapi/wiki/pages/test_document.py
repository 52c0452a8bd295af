"""Documents, the codings that they are sent in, and what fills them: a bomb, which a coding makes small, and noise."""

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded, even
from mockapi.wiki.pages.document import Document, Shape
from mockapi.wiki.pages.fillers import Bomb, Noise, bomb_parts, noise_parts
from mockapi.wiki.pages.flavor import FLAVORS, Flavor, flavored
from tests.unit.mockapi.conftest import make_page, revision_of
from tests.unit.mockapi.wiki.pages.documents import decode

Fill = Callable[[Located, int], Iterator[bytes]]


def whole(document: Document) -> bytes:
    return b"".join(document.pieces())


def test_documents_of_different_bytes_have_different_keys() -> None:
    located = revision_of(make_page(), 1)
    documents = [
        Document(1, located),
        Document(1, located, Block(5_000, 200)),
        Document(1, located, Block(5_000, 300)),
        Document(1, located, Bomb(5_000)),
        Document(1, located, flavor="edit"),
        Document(1, located, flavor="fragment"),
        Document(1, revision_of(make_page(), 2)),
        Document(1, revision_of(make_page(title="New harbour"), 1)),
        Document(1, revision_of(make_page(wiki="enwiktionary"), 1)),
    ]
    assert len({document.key for document in documents}) == len({whole(document) for document in documents}) == 9


@pytest.mark.parametrize("shape", [Block(5_000, 200), Bomb(5_000)])
def test_an_exact_size_is_known_before_and_in_every_flavour(located: Located, shape: Shape) -> None:
    documents = [Document(1, located, shape, flavor) for flavor in FLAVORS]
    assert (
        {document.exact_bytes for document in documents} == {document.work_bytes for document in documents} == {5_000}
    )
    assert {len(whole(document)) for document in documents} == {5_000}


@pytest.mark.parametrize("flavor", FLAVORS)
def test_an_article_comes_in_every_flavour(located: Located, flavor: Flavor) -> None:
    document = Document(1, located, flavor=flavor)
    assert whole(document) == flavored(whole(Document(1, located)), flavor)
    assert document.exact_bytes is None
    assert document.work_bytes >= len(whole(Document(1, located)))


def test_pieces_are_even(located: Located) -> None:
    lengths = [len(piece) for piece in Document(1, located, Block(3 * PIECE_BYTES + 5, 65_536)).pieces()]
    assert lengths == [PIECE_BYTES] * 3 + [5]


@pytest.mark.parametrize("flavor", ["view", "stash"])
def test_a_view_is_the_document(located: Located, flavor: Flavor) -> None:
    html = render_article(1, located)
    assert flavored(html, flavor) == html


def test_for_an_edit_each_element_with_an_id_has_data_of_parsoids(located: Located) -> None:
    html = flavored(render_article(1, located), "edit").decode()
    elements = [element for element in ET.fromstring(html).iter() if re.match("mw[A-Z]", element.get("id", ""))]
    assert len(elements) > 20
    assert {element.get("data-parsoid") for element in elements} == {"{}"}


def test_an_id_in_the_text_is_left_alone() -> None:
    text = b'<p id="mwAg">id="mwAw" and &lt;p id="mwBA"></p>'
    assert flavored(text, "edit") == b'<p id="mwAg" data-parsoid="{}">id="mwAw" and &lt;p id="mwBA"></p>'


def test_a_fragment_is_the_body_without_sections(located: Located) -> None:
    html = render_article(1, located)
    fragment = flavored(html, "fragment").decode()
    assert "<section" not in fragment
    assert "<body" not in fragment
    inside = ET.fromstring(f"<body>{fragment}</body>")
    assert "".join(inside.itertext()).split() == "".join(ET.fromstring(html)[1].itertext()).split()


@pytest.mark.parametrize("flavor", FLAVORS)
def test_what_is_no_document_stays_as_it_is(flavor: Flavor) -> None:
    css = b'<pre class="mw-code mw-css" dir="ltr">\na {}\n</pre>\n'
    assert flavored(css, flavor) == css


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


def bomb(located: Located, size: int) -> Iterator[bytes]:
    return bomb_parts(located, Bomb(size))


def noise(located: Located, size: int, seed: int = 7) -> Iterator[bytes]:
    return noise_parts(seed, located, Noise(size))


@pytest.mark.parametrize("fill", [bomb, noise])
@given(size=st.integers(0, 1_000_000), n=st.integers(0, 4095))
def test_the_size_is_exact(fill: Fill, size: int, n: int) -> None:
    body = b"".join(fill(revision_of(make_page(), n), size))
    assert len(body) == size
    assert body.isascii()


@pytest.mark.parametrize("fill", [bomb, noise])
def test_revision_and_parent_differ_in_one_short_line(fill: Fill) -> None:
    old, new = (b"".join(fill(revision_of(make_page(), n), 100_000)).splitlines() for n in (1, 2))
    (changed,) = [before for before, after in zip(old, new, strict=True) if before != after]
    assert len(changed) < 100


def test_the_seed_and_the_page_decide_the_noise(located: Located) -> None:
    one, again, other = (b"".join(noise(located, 10_000, seed)) for seed in (7, 7, 8))
    assert one == again != other


@pytest.mark.parametrize(
    ("fill", "size", "low", "high"), [(bomb, 16 << 20, 0, 1 / 900), (noise, 4 << 20, 0.7, 1)], ids=["bomb", "noise"]
)
@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_makes_a_bomb_a_thousand_times_smaller_and_noise_hardly(
    located: Located, fill: Fill, size: int, low: float, high: float, coding: Coding
) -> None:
    assert low * size < len(b"".join(encoded(coding, even(fill(located, size))))) < high * size


@pytest.mark.slow
@pytest.mark.parametrize("coding", CODINGS)
def test_a_gibibyte_becomes_a_megabyte(located: Located, coding: Coding) -> None:
    assert sum(map(len, encoded(coding, even(bomb(located, 1024**3))))) < 2 * 1024**2
