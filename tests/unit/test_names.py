"""One thing has one name: no two classes of a room share one, and no two modules but by the rules below."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ROOMS = ("devkit", "located_config", "mockapi", "pipeline")
# What the place of a module says about it: the command line or the process of a part, its data, its errors, what lists
# its kin.
GENERIC = {"__init__", "__main__", "client", "command", "commands", "errors", "model", "registry"}
# A module there is called as what a person writes: a command, an expectation, a fault, a section of a file.
# The same word may be the name of a thing elsewhere.
KEYED = (
    "devkit/cli",
    "devkit/expectations",
    "devkit/faults/kafka",
    "devkit/faults/machine",
    "devkit/faults/network",
    "devkit/faults/parts",
    "devkit/faults/programs",
    "devkit/faults/store",
    "devkit/proxy/toxics",
    "devkit/scenario/validate",
    "mockapi/faults",
)
# The packages of such a room each do the same for another kind of program, layer or API: in all of them a module of one
# name does the same part, and what they share is the family's own module of that name.
FAMILIES = ("devkit/programs", "devkit/proxy", "mockapi/api")


def public_classes(path: Path) -> list[str]:
    """The classes at the top of a module, and in its `if TYPE_CHECKING:` none."""
    return [
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def used_twice(names: list[tuple[str, Path]]) -> dict[str, list[str]]:
    places = defaultdict(list)
    for name, path in names:
        places[name].append(str(path.relative_to(TOP)))
    return {name: found for name, found in places.items() if len(found) > 1}


@pytest.mark.parametrize("room", ROOMS)
def test_a_class_has_a_name_of_its_own_in_its_room(room: str) -> None:
    names = [(name, path) for path in sorted((TOP / room).rglob("*.py")) for name in public_classes(path)]
    assert names, f"{room} has no classes: nothing was checked"
    assert used_twice(names) == {}


def of_its_family(path: Path) -> Path:
    """The one place that stands for a module and for those that do its part elsewhere in the family."""
    name = path.relative_to(TOP)
    return next((TOP / family / name.name for family in FAMILIES if name.is_relative_to(family)), path)


@pytest.mark.parametrize("room", ROOMS)
def test_a_module_has_a_name_of_its_own_in_its_room(room: str) -> None:
    named = {
        (path.stem, of_its_family(path))
        for path in (TOP / room).rglob("*.py")
        if path.stem not in GENERIC and str(path.parent.relative_to(TOP)) not in KEYED
    }
    assert named, f"{room} has no modules: nothing was checked"
    assert used_twice(sorted(named)) == {}


@pytest.mark.parametrize("place", [*KEYED, *FAMILIES])
def test_what_the_rules_make_an_exception_of_exists(place: str) -> None:
    assert list((TOP / place).glob("*.py"))
