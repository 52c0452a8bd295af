import re
from xml.etree import ElementTree as ET

import pytest

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.document import Document, Shape
from mockapi.wiki.pages.fillers import Bomb
from mockapi.wiki.pages.flavor import FLAVORS, Flavor, flavored
from tests.unit.mockapi.conftest import make_page, revision_of


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
