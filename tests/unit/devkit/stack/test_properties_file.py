import pytest

from devkit.stack.properties_file import read_properties


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=1", [(1, "a", "1")]),
        ("# a\n\n! b\n  a.b : c = d ", [(4, "a.b", "c = d ")]),
        ("a value", [(1, "a", "value")]),
        ("a", [(1, "a", "")]),
        ("a = one \\\n    two\nb=2", [(1, "a", "one two"), (3, "b", "2")]),
        (r"a\=b\:c\ d=\u00e9\tx\\", [(1, "a=b:c d", "é\tx\\")]),
        ("a=x\\\\\nb=y", [(1, "a", "x\\"), (2, "b", "y")]),
        ("a=1\r\na=2\r\n", [(1, "a", "1"), (2, "a", "2")]),
        ("a=1\\", [(1, "a", "1")]),
    ],
)
def test_as_java_reads_it(text: str, entries: list[tuple[int, str, str]]) -> None:
    assert list(read_properties(text)) == entries
