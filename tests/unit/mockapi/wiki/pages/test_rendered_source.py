import hashlib
import json
import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located
from mockapi.wiki.pages.frame import head, title_href, title_url
from mockapi.wiki.pages.rendered_source import json_table, render_source
from mockapi.wiki.wiki import Wiki
from tests.unit.mockapi.conftest import make_page, revision_of

HEAD = (
    '<html prefix="dc: http://purl.org/dc/terms/ mw: http://mediawiki.org/rdf/" '
    'about="https://en.wikipedia.org/wiki/Special:Redirect/revision/28674">'
    '<head prefix="mwr: https://en.wikipedia.org/wiki/Special:Redirect/"><meta charset="utf-8"/>'
    '<meta property="mw:pageId" content="7"/><meta property="mw:pageNamespace" content="0"/>'
    '<link rel="dc:replaces" resource="mwr:revision/28673"/>'
    '<meta property="mw:revisionSHA1" content="0000000000000000000000000000000000000000"/>'
    '<meta property="dc:modified" content="2026-01-01T00:00:00.000Z"/>'
    '<meta property="mw:htmlVersion" content="2.8.0"/><meta property="mw:html:version" content="2.8.0"/>'
    '<link rel="dc:isVersionOf" href="https://en.wikipedia.org/wiki/Old_harbour"/>'
    '<base href="https://en.wikipedia.org/wiki/"/><title>Old harbour</title>'
    '<link rel="stylesheet" href="/w/load.php?lang=en&amp;modules=mediawiki.skinning.content.parsoid'
    '%7Cmediawiki.skinning.interface%7Csite.styles&amp;only=styles&amp;skin=vector"/>'
    '<meta http-equiv="content-language" content="en"/><meta http-equiv="vary" content="Accept"/></head>'
    '<body id="mwAA" lang="en" class="mw-content-ltr sitedir-ltr ltr mw-body-content parsoid-body mediawiki '
    'mw-parser-output" dir="ltr" data-mw-parsoid-version="0.20.8.0" data-mw-html-version="2.8.0">'
)


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


def test_the_head_is_parsoids(located: Located) -> None:
    assert "".join(head(located, "0" * 40, cites=False)) == HEAD


def test_references_bring_their_modules(located: Located) -> None:
    tags = list(head(located, "0" * 40, cites=True))
    assert tags[10:13] == [
        '<meta property="mw:generalModules" content="ext.cite.ux-enhancements"/>',
        '<meta property="mw:moduleStyles" content="ext.cite.parsoid.styles|ext.cite.styles"/>',
        '<link rel="stylesheet" href="/w/load.php?lang=en&amp;modules=ext.cite.parsoid.styles%7Cext.cite.styles'
        "%7Cmediawiki.skinning.content.parsoid%7Cmediawiki.skinning.interface%7Csite.styles"
        '&amp;only=styles&amp;skin=vector"/>',
    ]


@pytest.mark.parametrize("title", ["Main Page", "Main_Page"])
def test_the_main_page_says_so(title: str) -> None:
    tags = list(head(revision_of(make_page(title=title), 1), "0" * 40, cites=False))
    assert tags.index('<meta property="isMainPage" content="true"/>') == 6
    assert tags[5].startswith('<meta property="dc:modified"')


def test_arabic_runs_from_right_to_left_and_a_title_is_escaped_where_it_stands() -> None:
    page = make_page(title="Q & A <1>", domain="ar.wikipedia.org")
    tags = list(head(revision_of(page, 1), "0" * 40, cites=False))
    assert "sitedir-rtl rtl mw-body-content" in tags[-1]
    assert "<title>Q &amp; A &lt;1&gt;</title>" in "".join(tags)
    assert "/wiki/Q_%26_A_%3C1%3E" in "".join(tags)


@pytest.mark.parametrize(
    ("title", "url"),
    [
        ("Old harbour", "Old_harbour"),
        ("Äpfel & Öl", "%C3%84pfel_%26_%C3%96l"),
        ("User:Admin/data.json", "User%3AAdmin/data.json"),
        ('Why? 100% & "that\'s" + more', "Why%3F_100%25_%26_%22that's%22_%2B_more"),
    ],
)
def test_a_title_in_a_url_is_as_recorded(title: str, url: str) -> None:
    assert title_url(title) == url


@pytest.mark.parametrize(
    ("title", "href"), [("Äpfel & Öl", "Äpfel_&amp;_Öl"), ("Why? 100%", "Why%3F_100%25"), ('"A"', "&quot;A&quot;")]
)
def test_a_title_in_a_link_is_left_readable(title: str, href: str) -> None:
    assert title_href(title) == href
