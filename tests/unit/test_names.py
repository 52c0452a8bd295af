"""One thing has one name: no two classes of a room share one, and in the pipeline no two modules."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ROOMS = ("devkit", "located_config", "mockapi", "pipeline")
# What the place of a module says about it: the command line of a part, or what lists its kin.
GENERIC = {"__init__", "__main__", "command", "commands", "registry"}
# A module there is called as the section of the configuration file that it describes.
SECTIONS = "settings"


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


def test_a_module_of_the_pipeline_has_a_name_of_its_own() -> None:
    modules = [
        (path.stem, path)
        for path in sorted((TOP / "pipeline").rglob("*.py"))
        if path.stem not in GENERIC and path.parent.name != SECTIONS
    ]
    assert used_twice(modules) == {}
