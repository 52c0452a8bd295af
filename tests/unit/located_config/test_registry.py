"""What a registry says of names that are taken, and to those who follow it."""

import sys

import pytest

from located_config.registry import NameTakenError, Registry, additions


def test_the_own_come_first_and_what_is_added_after_them() -> None:
    registry = Registry("job", {"own": 1})
    register(registry, "added", 2)
    assert dict(registry) == {"own": 1, "added": 2}


def test_an_addition_says_where_it_was_made() -> None:
    register(Registry("job", {}), "placed", 1)
    line = sys._getframe().f_lineno - 1
    addition = additions("job")[-1]
    assert (addition.name, addition.place, addition.module) == ("placed", f"{__file__}:{line}", __name__)
    assert addition in additions()
    assert addition not in additions("expectation")


def test_a_name_of_the_projects_own_is_refused() -> None:
    with pytest.raises(NameTakenError, match=r"test_registry.py:\d+: there is a job 'own' already, .* project's own"):
        register(Registry("job", {"own": 1}), "own", 2)


def test_of_a_name_that_is_taken_both_places_are_said() -> None:
    registry: Registry[int] = Registry("expectation", {})
    register(registry, "mine", 1)
    first = sys._getframe().f_lineno - 1
    with pytest.raises(NameTakenError) as refused:
        register(registry, "mine", 2)
    second = first + 3
    assert str(refused.value) == (
        f"{__file__}:{second}: there is an expectation 'mine' already, added at {__file__}:{first}: "
        "give this one another name"
    )
    assert registry["mine"] == 1


def test_the_same_thing_may_be_added_twice() -> None:
    registry: Registry[str] = Registry("job", {})
    register(registry, "again", "x")
    register(registry, "again", "x")
    assert [one.name for one in additions("job")].count("again") == 1


def test_a_follower_gets_all_values_and_each_later_one() -> None:
    registry, got = Registry("job", {"own": 1}), list[int]()
    registry.follow(lambda *values: got.extend(values))
    register(registry, "later", 2)
    assert got == [1, 2]


def register(registry: "Registry[int] | Registry[str]", name: str, value: object) -> None:
    """As a package's function for extensions."""
    registry.add(name, value)  # type: ignore[arg-type]
