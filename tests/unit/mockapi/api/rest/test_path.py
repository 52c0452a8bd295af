from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.rest.path import clean, page_path, relative, segment

TITLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TITLES)
def test_a_title_comes_back_from_its_path(title: str) -> None:
    place = page_path("v1", title, "html")
    inside = relative(place)
    assert inside is not None
    assert inside.count("/") == 4
    assert segment(inside.split("/")[3]) == clean(title)


def test_what_cannot_be_read_is_marked() -> None:
    assert segment("A%00b") == "A\ufffdb"
    assert segment("%E0b") == "\ufffdb"
    assert segment(quote("A\u030a")) == "Å"
    assert segment("a+b") == "a+b"


def test_only_what_is_below_the_root_is_the_apis() -> None:
    assert relative("/w/rest.php") == ""
    assert relative("/w/rest.phpx") is None
    assert relative("/W/rest.php/v1") is None
