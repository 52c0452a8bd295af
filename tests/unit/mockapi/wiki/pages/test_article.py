import difflib
import hashlib
import re
from statistics import median
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.catalog import Located, default_catalog
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.elements import Bits, Place, element_id
from mockapi.wiki.pages.outline import MAX_BYTES, ArticleId, Outline, history, outline
from mockapi.wiki.pages.prose import LANGUAGES
from tests.unit.mockapi.conftest import make_page, revision_of


def document(seed: int, page_id: int, n: int) -> str:
    page = default_catalog(seed, pages=page_id)[-1]
    return render_article(seed, Located(page, page.revisions[n])).decode()


@settings(max_examples=25, deadline=None)
@given(
    st.integers(),
    st.integers(1, 10**6),
    st.integers(0, 60),
    st.sampled_from([*LANGUAGES, "nl"]),
    st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40),
)
def test_every_document_is_well_formed_and_names_its_revision(
    seed: int, page_id: int, n: int, language: str, title: str
) -> None:
    page = make_page(page_id, domain=f"{language}.wikipedia.org", title=title)
    located = revision_of(page, n)
    text = render_article(seed, located).decode()
    assert text.startswith("<!DOCTYPE html>\n<html ")
    root = ET.fromstring(text)
    ids = re.findall(r' id="(mw[^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert (
        root.get("about")
        == f"https://{language}.wikipedia.org/wiki/Special:Redirect/revision/{located.revision.rev_id}"
    )
    assert len(text.encode()) <= MAX_BYTES
    cited = set(re.findall(r'href="[^"]*#(cite_note-\d+)"', text))
    assert cited == set(re.findall(r'<li about="#cite_note-\d+" id="(cite_note-\d+)"', text))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 200))
def test_an_edit_changes_a_few_lines(seed: int, page_id: int, n: int) -> None:
    page = make_page(page_id)
    old, new = (render_article(seed, revision_of(page, number)).decode().split("\n") for number in (n - 1, n))
    diff = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
    removed = [line for line in diff if line.startswith("-")]
    added = [line for line in diff if line.startswith("+")]
    head = 4
    assert 2 <= len(added) <= head + 3 + 1
    assert len(removed) <= len(added)


def test_sizes_are_log_normal_around_24_kb_and_lines_are_many() -> None:
    pages = [render_article(1, Located(page, page.revisions[0])) for page in default_catalog(1, pages=400)]
    sizes = [len(page) for page in pages]
    assert median(sizes) == pytest.approx(24 * 1024, rel=0.12)
    assert max(sizes) > 4 * median(sizes)
    assert 100 <= median(page.count(b"\n") for page in pages) <= 200


@pytest.mark.parametrize("language", [*LANGUAGES, "nl"])
def test_the_size_does_not_depend_on_the_script(language: str) -> None:
    def size(code: str) -> int:
        pages = (make_page(number, domain=f"{code}.wikipedia.org", wiki="w") for number in range(1, 60))
        return sum(len(render_article(5, revision_of(page, 1))) for page in pages)

    assert size(language) == pytest.approx(size("en"), rel=0.1)


def test_the_largest_pages_stay_below_the_cap_after_many_edits() -> None:
    sizes = ((len(render_article(1, revision_of(make_page(number), 1))), number) for number in range(1, 400))
    _, largest = max(sizes)
    assert len(render_article(1, revision_of(make_page(largest), 4095))) <= MAX_BYTES


def test_it_looks_like_parsoid() -> None:
    text = "".join(document(1, page_id, 0) for page_id in range(1, 9))
    for mark in (
        'data-mw-section-id="1"',
        'rel="mw:WikiLink"',
        'typeof="mw:Transclusion"',
        'typeof="mw:Extension/ref"',
        'typeof="mw:File/Thumb"',
        'property="mw:revisionSHA1"',
    ):
        assert mark in text
    for script in (
        "[\u0430-\u044f]{4}",
        "[\u03b1-\u03c9]{4}",
        "[\u0600-\u06ff]{3}",
        "[\u0900-\u097f]{3}",
        "[\u4e00-\u9fff]{2}",
    ):
        assert re.search(script, text)


def test_the_head_has_the_sha1_of_the_source(located: Located) -> None:
    sha1 = hashlib.sha1(generate(ArticleId.of(3, located)).encode()).hexdigest()
    assert f'<meta property="mw:revisionSHA1" content="{sha1}"/>' in render_article(3, located).decode()


def test_seed_and_wiki_decide_the_text() -> None:
    english = revision_of(make_page(), 1)
    other = revision_of(make_page(wiki="enwiktionary", domain="en.wiktionary.org"), 1)
    bodies = {render_article(1, english), render_article(2, english), render_article(1, other)}
    assert len(bodies) == 3


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


def drawn(bits: Bits | None) -> int | None:
    return None if bits is None else bits.below(1 << 128)


def contents(page: Outline) -> list[tuple[int | None, int | None]]:
    return [(drawn(page.words(index)), drawn(page.added(index))) for index in range(len(page.shapes))]


@settings(deadline=None, max_examples=30)
@given(st.integers(), st.integers(1, 10**6), st.integers(1, 100))
def test_an_edit_leaves_form_and_most_words(seed: int, page_id: int, n: int) -> None:
    page = make_page(page_id)
    old, new = (outline(ArticleId.of(seed, revision_of(page, number))) for number in (n - 1, n))
    assert old.shapes == new.shapes
    changed = [
        index for index, (before, after) in enumerate(zip(contents(old), contents(new), strict=True)) if before != after
    ]
    assert 1 <= len(changed) <= 3 + 1
    every = range(len(old.shapes))
    assert [old.heading(index) for index in every] == [new.heading(index) for index in every]
    assert [drawn(old.source(index)) for index in every] == [drawn(new.source(index)) for index in every]


@settings(deadline=None, max_examples=30)
@given(st.integers(), st.integers(1, 10**6))
def test_sections_are_numbered_without_a_gap(seed: int, page_id: int) -> None:
    page = outline(ArticleId.of(seed, revision_of(make_page(page_id), 1)))
    titles = [title for index in range(len(page.shapes)) if (title := page.heading(index))]
    assert [number for number, _ in titles] == list(range(1, page.sections))
    assert all(heading.endswith(f" {number}") for number, heading in titles)
    assert page.heading(0) is None


@given(st.binary(min_size=1, max_size=16), st.integers(1, 300), st.integers(1, 200))
def test_an_edit_touches_a_few_elements_and_leaves_the_rest(key: bytes, edits: int, elements: int) -> None:
    before, after = history(key, edits - 1, elements), history(key, edits, elements)
    touched = {index for index in after.touched if after.touched[index] != before.touched.get(index)}
    added = {index for index in after.added if after.added[index] != before.added.get(index)}
    assert 1 <= len(touched) <= 3
    assert len(added) <= 1
    assert {after.touched[index] for index in touched} == {edits}
    assert max(after.touched) < elements


@given(st.integers(1, 500), st.integers(1, 100))
def test_a_page_grows_by_a_tenth_at_most(edits: int, elements: int) -> None:
    assert len(history(b"page", edits, elements).added) <= -(-elements // 10)


def test_the_first_revision_has_no_edits() -> None:
    assert history(b"page", 0, 10).touched == {}


@pytest.mark.parametrize(
    ("counter", "text"), [(0, "mwAA"), (1, "mwAQ"), (2, "mwAg"), (3, "mwAw"), (4, "mwBA"), (5, "mwBQ"), (256, "mwAQA")]
)
def test_ids_are_parsoids(counter: int, text: str) -> None:
    assert element_id(counter) == text


@given(st.sets(st.tuples(st.integers(0, 5_000), st.integers(0, 3), st.booleans()), max_size=50))
def test_no_two_nodes_share_an_id(nodes: set[tuple[int, int, bool]]) -> None:
    ids = {Place(index, "A", added=added).id(part) for index, part, added in nodes}
    assert len(ids) == len(nodes)
