import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.pages.elements import Bits, Place, element_id
from mockapi.wiki.pages.outline import ArticleId, Outline, history, outline
from tests.unit.mockapi.conftest import make_page, revision_of


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
