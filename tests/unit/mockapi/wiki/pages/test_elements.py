import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.pages.elements import Place, element_id


@pytest.mark.parametrize(
    ("counter", "text"), [(0, "mwAA"), (1, "mwAQ"), (2, "mwAg"), (3, "mwAw"), (4, "mwBA"), (5, "mwBQ"), (256, "mwAQA")]
)
def test_ids_are_parsoids(counter: int, text: str) -> None:
    assert element_id(counter) == text


@given(st.sets(st.tuples(st.integers(0, 5_000), st.integers(0, 3), st.booleans()), max_size=50))
def test_no_two_nodes_share_an_id(nodes: set[tuple[int, int, bool]]) -> None:
    ids = {Place(index, "A", added=added).id(part) for index, part, added in nodes}
    assert len(ids) == len(nodes)
