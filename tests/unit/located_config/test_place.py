import pytest

from located_config.place import position, reaches, shown
from located_config.yaml_file import parse_yaml

DOCUMENT = """\
# a comment
first: 1
nested:
  deep: { x: 1, y: [10,
    20] }
shared: &shared
  inherited: 1
copy: { <<: *shared, own: 2 }
"""


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ((), (1, 1)),
        (("first",), (2, 1)),
        (("nested", "deep"), (4, 3)),
        (("nested", "deep", "x"), (4, 11)),
        (("nested", "deep", "y", 0), (4, 21)),
        (("nested", "deep", "y", 1), (5, 5)),
        # What is not there: the innermost part that is.
        (("nothing",), (1, 1)),
        (("nested", "deep", "z"), (4, 3)),
        (("nested", "deep", "y", 7), (4, 17)),
        (("first", "below"), (2, 1)),
        # A merged key stands where it was written, not in the mapping that takes it over.
        (("copy", "own"), (8, 22)),
        (("copy", "inherited"), (8, 1)),
    ],
)
def test_position(location: tuple[int | str, ...], place: tuple[int, int]) -> None:
    assert position(parse_yaml(DOCUMENT), location) == place


@pytest.mark.parametrize(
    ("location", "steps"),
    [((), 0), (("nested", "deep", "y", 1), 4), (("nested", "deep", "y", 2), 3), (("first", "x"), 1), (("z", "y"), 0)],
)
def test_reaches(location: tuple[int | str, ...], steps: int) -> None:
    assert reaches(parse_yaml(DOCUMENT), location) == steps


@pytest.mark.parametrize(
    ("location", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b", 0, "c"), "a.b[0].c"),
        ((0, "a"), "[0].a"),
        (("a", 1, 2), "a[1][2]"),
        (("pages", "Mercury (planet)", "at"), "pages.Mercury (planet).at"),
    ],
)
def test_as_people_read_it(location: tuple[int | str, ...], text: str) -> None:
    assert shown(location) == text
