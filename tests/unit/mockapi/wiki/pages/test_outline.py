from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.elements import Bits
from mockapi.wiki.pages.outline import ArticleId, Outline, outline

MakePage = Callable[..., CatalogPage]
RevisionOf = Callable[[CatalogPage, int], Located]


def drawn(bits: Bits | None) -> int | None:
    return None if bits is None else bits.below(1 << 128)


def contents(page: Outline) -> list[tuple[int | None, int | None]]:
    return [(drawn(page.words(index)), drawn(page.added(index))) for index in range(len(page.shapes))]


@settings(deadline=None, max_examples=30)
@given(st.integers(), st.integers(1, 10**6), st.integers(1, 100))
def test_an_edit_leaves_form_and_most_words(
    make_page: MakePage, revision_of: RevisionOf, seed: int, page_id: int, n: int
) -> None:
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
def test_sections_are_numbered_without_a_gap(
    make_page: MakePage, revision_of: RevisionOf, seed: int, page_id: int
) -> None:
    page = outline(ArticleId.of(seed, revision_of(make_page(page_id), 1)))
    titles = [title for index in range(len(page.shapes)) if (title := page.heading(index))]
    assert [number for number, _ in titles] == list(range(1, page.sections))
    assert all(heading.endswith(f" {number}") for number, heading in titles)
    assert page.heading(0) is None
