"""`recorded.json` has what Parsoid 0.20.8 (MediaWiki 1.43.9) made of some texts, on a wiki with a main page only."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.namespaces import Namespaces
from mockapi.wiki.parsoid.render import render

RECORDED: list[dict[str, str]] = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
VOID = {"br", "hr", "link", "meta", "wbr"}


def rendered(text: str, *, title: str = "Sect") -> str:
    return "\n".join(render(text, title=title, exists=lambda other: other.text == "Main Page"))


def test_enough_was_recorded() -> None:
    assert len(RECORDED) > 90


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["wikitext"][:40].encode("unicode_escape").decode())
def test_it_writes_what_parsoid_writes(case: dict[str, str]) -> None:
    assert rendered(case["wikitext"]) == case["html"]


class Checker(HTMLParser):
    """Fails at the first tag that closes another than the one that is open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


MARKUP = re.findall(
    r"\S+",
    "a b é '' ''' ''''' [[ ]] | [[A]] [[A|b]] [[File:X|thumb|c]] [[Category:X]] [http://x http://x.y == = * # : ; "
    "---- <b> </b> <i> </i> <div> </div> <ref> </ref> <ref/> <references/> {{ }} {{t|a=b}} <nowiki> </nowiki> <!-- --> "
    "&amp; & < > \" ' __TOC__ __NOTOC__ #REDIRECT <script> onclick= <pre> </pre>",
)
PIECES = st.sampled_from([*MARKUP, "\n", "\n\n", " ", "\x7f0\x7f"])


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_gives_well_formed_html(text: str) -> None:
    html = rendered(text)
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert "script" not in checker.tags
    assert html == rendered(text)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz &<>\"'é日", min_size=1).filter(lambda text: "''" not in text))
def test_text_without_markup_is_kept(text: str) -> None:
    if re.search(r"&\w+;|<\w|\s$|^\s", text):
        return
    checker = Checker()
    checker.feed(rendered(text))
    assert checker.text == text


def test_numbered_ids_are_there_once() -> None:
    checker = Checker()
    checker.feed(rendered("".join(f"== h{n} ==\n* ''a'' [[b]]\n\n" for n in range(200))))
    assert len(checker.ids) > 1000
    assert len(set(checker.ids)) == len(checker.ids)


def test_links_know_the_names_of_the_wiki() -> None:
    names = Namespaces.of("Wikipedia", {14: "Kategorie"})
    assert 'href="./Kategorie:X"' in "".join(render("[[Category:x]]", namespaces=names))


def test_without_more_every_page_is_there() -> None:
    (line,) = render("[[Quay]]")
    assert "redlink" not in line
    assert 'href="./Quay"' in line


@pytest.mark.parametrize(
    "text", ["<div>" * 5_000 + "x" + "</div>" * 5_000, "<b>" * 20_000, "*" * 20_000, "{{" * 20_000, "[[a|" * 20_000]
)
def test_depth_does_no_harm(text: str) -> None:
    assert rendered(text).startswith("<section")


def test_code_in_attributes_is_left_out() -> None:
    html = rendered('<span onclick="x()" style="color:red" data-mw="{}" data-x="1">a</span>')
    assert '<span style="color:red" data-x="1" id="mwAw">a</span>' in html
