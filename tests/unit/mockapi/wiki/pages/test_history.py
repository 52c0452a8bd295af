from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.pages.outline import history


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
