import hashlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located
from mockapi.wiki.pages.frame import head
from mockapi.wiki.pages.rendered_source import render_source
from mockapi.wiki.wiki import Wiki

MakePage = Callable[..., CatalogPage]


def with_text(text: str, *, model: str = "wikitext", title: str = "Old harbour") -> Located:
    low = 7 * REVISIONS_PER_PAGE
    revision = CatalogRevision(rev_id=low + 1, parent_id=0, timestamp=datetime(2026, 1, 1, tzinfo=UTC), text=text)
    page = CatalogPage(
        wiki="enwiki",
        domain="en.wikipedia.org",
        page_id=7,
        namespace_id=0,
        title=title,
        revisions=(revision,),
        content_model=model,
    )
    return Located(page, revision)


def rendered(text: str, *, model: str = "wikitext", wiki: Wiki | None = None) -> str:
    return render_source(with_text(text, model=model), text, wiki).decode()


def test_wikitext_stands_in_parsoids_frame() -> None:
    text = "Edit ''one''"
    sha1 = hashlib.sha1(text.encode()).hexdigest()
    html = rendered(text)
    assert html.startswith("<!DOCTYPE html>\n" + "".join(head(with_text(text), sha1, cites=False)) + "<section ")
    assert ">one</i>" in html
    assert html.endswith("</section></body></html>")


def test_references_bring_their_styles() -> None:
    assert "mw:moduleStyles" in rendered("A<ref>b</ref>")
    assert "mw:moduleStyles" not in rendered("A")


def test_a_link_is_red_where_the_wiki_has_no_such_page(make_page: MakePage) -> None:
    wiki = Wiki("enwiki", "en.wikipedia.org", [make_page(title="Quay")])
    html = rendered("[[Quay]] [[Nowhere]] [[MediaWiki:Newpage-desc]]", wiki=wiki)
    assert html.count("redlink=1") == 1
    assert './Nowhere?action=edit&amp;redlink=1"' in html
    assert "redlink=1" not in rendered("[[Nowhere]]")


@pytest.mark.parametrize(
    ("model", "classes"), [("css", "mw-code mw-css"), ("javascript", "mw-code mw-js"), ("text", "mw-code")]
)
def test_code_is_no_document(model: str, classes: str) -> None:
    html = rendered("alert( '<&>' );", model=model)
    assert html == f'<pre class="{classes}" dir="ltr">\nalert( \'&lt;&amp;>\' );\n</pre>\n'


def test_json_is_a_table_in_the_frame() -> None:
    html = rendered('{"a": 1}', model="json")
    assert '"><table class="mw-json mw-json-object" id="mwAQ">' in html
    assert html.endswith("</table></body></html>")
