import hashlib
import json
import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located
from mockapi.wiki.pages.frame import head
from mockapi.wiki.pages.rendered_source import json_table, render_source
from mockapi.wiki.wiki import Wiki
from tests.unit.mockapi.conftest import make_page


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


def test_a_link_is_red_where_the_wiki_has_no_such_page() -> None:
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


texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=8)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=20,
)


def bare(html: str) -> str:
    return re.sub(r' id="mw[^"]+"', "", html)


def test_it_is_as_parsoid_wrote_it() -> None:
    assert bare(json_table('{"list":[1,true,null],"text":"<&>"}')) == (
        '<table class="mw-json mw-json-object"><tbody><tr><th>list</th><td><table class="mw-json mw-json-array"><tbody>'
        '<tr><td class="value mw-json-number">1</td></tr><tr><td class="value mw-json-boolean">true</td></tr>'
        '<tr><td class="value mw-json-null">null</td></tr></tbody></table></td></tr>'
        '<tr><th>text</th><td class="value mw-json-string">&lt;&amp;></td></tr></tbody></table>'
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            '"a"',
            '<table class="mw-json mw-json-single-value"><tbody><tr>'
            '<td class="mw-json-string">a</td></tr></tbody></table>',
        ),
        ("{}", '<table class="mw-json mw-json-object"><tbody><tr><td class="mw-json-empty"></td></tr></tbody></table>'),
        (
            "[]",
            '<table class="mw-json mw-json-array"><tbody><tr><td><table class="mw-json mw-json-array"><tbody><tr>'
            '<td class="mw-json-empty"></td></tr></tbody></table></td></tr></tbody></table>',
        ),
    ],
)
def test_what_stands_alone_or_is_empty(text: str, html: str) -> None:
    assert bare(json_table(text)) == html


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000 + "]" * 100_000])
def test_what_is_no_json_is_an_error_in_the_page(text: str) -> None:
    assert 'typeof="mw:Error"' in json_table(text)


@given(values)
def test_every_value_is_in_it_once_and_ids_are_unique(value: object) -> None:
    root = ET.fromstring(json_table(json.dumps(value)))
    ids = [element.get("id") for element in root.iter()]
    assert len(ids) == len(set(ids))
    assert None not in ids
    shown = [cell.text or "" for cell in root.iter("td") if "mw-json-" in cell.get("class", "")]
    assert shown == list(leaves(value))


def leaves(value: object) -> list[str]:
    match value:
        case dict() | list():
            inner = list(value.values() if isinstance(value, dict) else value)
            return [leaf for item in inner for leaf in leaves(item)] if inner else [""]
        case None:
            return ["null"]
        case bool():
            return [str(value).lower()]
        case _:
            return [str(value)]
