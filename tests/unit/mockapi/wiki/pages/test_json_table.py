import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.pages.rendered_source import json_table

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
