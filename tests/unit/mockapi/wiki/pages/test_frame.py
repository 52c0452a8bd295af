import pytest

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.frame import head, title_href, title_url
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
