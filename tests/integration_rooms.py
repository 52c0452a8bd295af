"""The rooms that each file of integration and conformance tests is about, so that CI can run the files of a change.

A room is a package directly below one of the distributions, such as `pipeline/fetch`, with all that is below it, or a
distribution itself, which stands for its own modules, such as `pipeline/log.py`. `OTHER_ROOMS` are no packages. A test
file names its rooms in a constant: `ROOMS = ("pipeline/fetch", "mockapi/faults")`. It names what it is about, not all
that it passes through.
"""

import ast
from pathlib import Path, PurePath
from typing import Final

TOP: Final = Path(__file__).parents[1]
DISTRIBUTIONS: Final = ("devkit", "located_config", "mockapi", "pipeline")
OTHER_ROOMS: Final = {
    "deploy": ("deploy", "Dockerfile", "docker-compose.yml", ".dockerignore"),
    "docs/runbooks": ("docs/runbooks",),
    "docs": ("docs", "mkdocs.yml", "README.md"),
    "justw": ("justw", "justfile", "locks"),
    "scenarios": ("scenarios",),
}
"""Each with its files and directories. A path is of the first that has it."""
DIRECTORIES: Final = ("tests/integration", "tests/conformance")


def all_rooms() -> frozenset[str]:
    """The rooms of the checkout."""
    packages = {
        f"{distribution}/{path.name}"
        for distribution in DISTRIBUTIONS
        for path in (TOP / distribution).iterdir()
        if path.name.isidentifier() and path.is_dir() and any(path.rglob("*.py"))
    }
    return frozenset({*DISTRIBUTIONS, *OTHER_ROOMS, *packages})


def room_of(path: PurePath | str) -> str | None:
    """The room of a source file, by its path relative to the checkout. A file of tests, for one, has none.

    The file need not exist: a room of which the last file was removed has its name still.
    """
    path = PurePath(path)
    top, *below = path.parts
    if top in DISTRIBUTIONS:
        return f"{top}/{below[0]}" if len(below) > 1 else top
    if top == "pyproject.toml":  # the kit's own; those of the other distributions are in their directories
        return "devkit"
    return next((room for room, places in OTHER_ROOMS.items() if any(map(path.is_relative_to, places))), None)


def files_with_rooms() -> list[Path]:
    """The test files that name their rooms."""
    return sorted(path for directory in DIRECTORIES for path in (TOP / directory).rglob("test_*.py"))


def rooms_of(file: Path) -> tuple[str, ...]:
    """The rooms that a test file names; it is read, not imported. ValueError says what is wrong with them."""
    return named_rooms(file.read_text(), file)


def named_rooms(text: str, file: Path) -> tuple[str, ...]:
    """As `rooms_of`, for the text of a file."""
    remedy = 'hint: name the rooms that it is about after its imports, as in ROOMS = ("pipeline/fetch", "mockapi")'
    values = [
        node.value
        for node in ast.parse(text, str(file)).body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["ROOMS"]
    ]
    if len(values) != 1:
        raise ValueError(f"{file}: {len(values) or 'no'} assignments of ROOMS\n{remedy}")
    try:
        rooms = ast.literal_eval(values[0])
    except ValueError:
        rooms = None
    if not (isinstance(rooms, tuple) and rooms and all(isinstance(room, str) for room in rooms)):
        raise ValueError(f"{file}: ROOMS is not a tuple of names: {ast.unparse(values[0])}\n{remedy}")
    return rooms
