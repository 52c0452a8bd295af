import pytest

from mockapi.wiki.namespaces import STANDARD, Namespaces


@pytest.mark.parametrize(
    ("name", "number"),
    [("talk", 1), ("USER_TALK", 3), ("user talk", 3), ("image", 6), ("", None), ("nowhere", None), ("special", -1)],
)
def test_a_name_finds_its_number(name: str, number: int | None) -> None:
    assert STANDARD.number_of(name) == number


def test_they_come_in_the_order_of_their_numbers() -> None:
    assert [one.id for one in STANDARD] == list(range(-2, 16))


def test_own_names_win_and_english_ones_are_understood() -> None:
    own = Namespaces.of("Wikipedia", {1: "Diskussion", 100: "Portal"})
    assert own.name_of(1) == "Diskussion"
    assert own.by_id[1].canonical == "Talk"
    assert (own.number_of("Diskussion"), own.number_of("Talk"), own.number_of("Portal")) == (1, 1, 100)
    assert own.by_id[100].canonical is None
    assert (1, "Talk") in own.aliases
    assert (6, "Image") in own.aliases
    assert Namespaces.of("Wikipedia").aliases == ((6, "Image"), (7, "Image talk"))


def test_the_project_has_its_name_and_the_general_one() -> None:
    own = Namespaces.of("Wikipedia")
    assert own.number_of("wikipedia") == own.number_of("project") == 4
    assert own.name_of(5) == "Wikipedia talk"


def test_what_namespaces_are_for() -> None:
    assert STANDARD.name_of(828) == "Namespace 828"
    assert [one.id for one in STANDARD if one.content] == [0]
    assert STANDARD.by_id[1].subpages
    assert not STANDARD.by_id[0].subpages
