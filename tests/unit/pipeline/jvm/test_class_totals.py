"""Classes as a person reads them, from a JVM's own table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.jvm.class_totals import ClassTotal, in_histogram, largest, readable, table

HISTOGRAM = """\
 num     #instances         #bytes  class name (module)
-------------------------------------------------------
   1:         91230       20123456  [B (java.base@25.0.2)
   2:             4             96  java.util.ArrayList (java.base@25.0.2)
   3:             2            196  java.util.ArrayList
Total         91236       20123748
"""


def test_the_jvms_table_is_read_and_one_name_counted_once() -> None:
    assert in_histogram(HISTOGRAM) == [
        ClassTotal("byte[]", 91_230, 20_123_456),
        ClassTotal("java.util.ArrayList", 6, 292),
    ]


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
    assert readable(name) == expected


TOTALS = st.lists(st.builds(ClassTotal, st.sampled_from("abcd"), st.integers(0, 9), st.integers(0, 99)))


@given(TOTALS)
def test_nothing_is_lost_and_the_largest_is_first(totals: list[ClassTotal]) -> None:
    found = largest(totals)
    assert sum(one.size for one in found) == sum(one.size for one in totals)
    assert sum(one.objects for one in found) == sum(one.objects for one in totals)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    assert len({one.name for one in found}) == len(found)


def test_a_table_has_as_many_lines_as_were_asked_for() -> None:
    lines = table([ClassTotal("byte[]", 1_000, 3 << 20), ClassTotal("a.B", 1, 16)], 1)
    assert lines == ["      MiB      objects  class", "      3.0        1,000  byte[]"]
