import re
from xml.etree import ElementTree as ET

import pytest

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.flavor import FLAVORS, Flavor, flavored


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
