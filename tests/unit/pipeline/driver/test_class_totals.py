"""Totals by class, and names as source code has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.driver.heap_dumps import ClassTotal, java_name, largest


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("[B", "byte[]"),
        ("[[J", "long[][]"),
        ("[Ljava.lang.String;", "java.lang.String[]"),
        ("[[Ljava/lang/Object;", "java.lang.Object[][]"),
        ("java/util/HashMap$Node", "java.util.HashMap$Node"),
    ],
)
def test_names_are_those_of_source_code(name: str, expected: str) -> None:
    assert java_name(name) == expected


TOTALS = st.lists(st.builds(ClassTotal, st.sampled_from("abcd"), st.integers(0, 99)))


@given(TOTALS)
def test_nothing_is_lost_and_the_largest_is_first(totals: list[ClassTotal]) -> None:
    found = largest(totals)
    assert sum(one.size for one in found) == sum(one.size for one in totals)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    assert len({one.name for one in found}) == len(found)
