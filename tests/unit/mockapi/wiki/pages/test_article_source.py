import difflib
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.outline import ArticleId
from mockapi.wiki.pages.prose import LANGUAGES
from tests.unit.mockapi.conftest import make_page, revision_of


def plain(text: str) -> str:
    return re.sub(r"'''?|<[^>]+>", "", text)


@settings(deadline=None, max_examples=25)
@given(st.integers(), st.integers(1, 10**6), st.integers(0, 60), st.sampled_from(LANGUAGES))
def test_it_says_what_the_html_says(seed: int, page_id: int, n: int, language: str) -> None:
    located = revision_of(make_page(page_id, domain=f"{language}.wikipedia.org"), n)
    source, page = generate(ArticleId.of(seed, located)), render_article(seed, located).decode()
    assert re.findall(r"^== (.*) ==$", source, re.MULTILINE) == re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert re.findall(r"\[\[(?!File:)(.*?)\]\]", source) == re.findall(r'rel="mw:WikiLink" .*?>(.*?)</a>', page)
    assert re.findall(r"<ref>\[(\S+) (.*?)\]</ref>", source) == re.findall(
        r'rel="mw:ExtLink nofollow" href="(.*?)".*?>(.*?)</a>', page
    )
    assert re.findall(r"\[\[File:(.*?)\|", source) == [
        file.replace("_", " ") for file in re.findall(r'<img resource="./File:(.*?)"', page)
    ]
    assert re.findall(r"\{\{Infobox\|name=(.*?)\|", source) == re.findall(r"<th>(.*?)</th>", page)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert [plain(text) for text in re.findall(r"\|thumb\|(.*?)\]\]", source)] == [plain(text) for text in captions]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 200))
def test_an_edit_changes_a_few_blocks(seed: int, page_id: int, n: int) -> None:
    page = make_page(page_id)
    old, new = (generate(ArticleId.of(seed, revision_of(page, number))).split("\n\n") for number in (n - 1, n))
    changes = [
        change
        for change in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if change[0] != "equal"
    ]
    assert 1 <= len(changes) <= 4
    assert sum(to - start for _, _, _, start, to in changes) <= 3 + 1


def test_it_is_well_formed_wikitext(located: Located) -> None:
    source = generate(ArticleId.of(3, located))
    assert source.endswith("== References ==\n<references />")
    assert source.count("[[") == source.count("]]")
    assert source.count("{{") == source.count("}}")
    assert source.count("'''") % 2 == 0
    assert "<b>" not in source
    assert "<i>" not in source
