import pytest

from located_config.count import counted, times


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 faults"), (1, "1 fault"), (2, "2 faults"), (1024, "1,024 faults"), (-1, "-1 faults")]
)
def test_a_number_with_its_noun(count: int, text: str) -> None:
    assert counted(count, "fault") == text


def test_another_plural() -> None:
    assert (counted(1, "entry", "entries"), counted(3, "entry", "entries")) == ("1 entry", "3 entries")


@pytest.mark.parametrize(("count", "text"), [(0, "0 times"), (1, "once"), (2, "twice"), (3, "3 times")])
def test_how_often(count: int, text: str) -> None:
    assert times(count) == text
