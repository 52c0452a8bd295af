from collections.abc import Callable

import pytest

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.document import Document, Shape
from mockapi.wiki.pages.fillers import Bomb
from mockapi.wiki.pages.flavor import FLAVORS, Flavor, flavored

MakePage = Callable[..., CatalogPage]
RevisionOf = Callable[[CatalogPage, int], Located]


def whole(document: Document) -> bytes:
    return b"".join(document.pieces())


def test_documents_of_different_bytes_have_different_keys(make_page: MakePage, revision_of: RevisionOf) -> None:
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
