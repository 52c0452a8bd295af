"""The rooms that a test file can reach: by its imports, the fixtures that it uses, and the programs that these start.

A string that is the name of a module counts as an import of it: behind `-m` in a command, in a table of commands that a
program loads by name, in the target of a crash point. Code in a string, as for `python -c`, counts too. A room that is
no package is reached by a string that has the name of one of its files.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.import_graph import imported_by, imports, reached
from tests.integration_rooms import DISTRIBUTIONS, OTHER_ROOMS, TOP, room_of

PACKAGES: Final = (*DISTRIBUTIONS, "tests")
_MODULE_NAME: Final = re.compile(r"(\w+(?:\.\w+)+)(?::[\w.]+)?")
"""A crash point has the name of a function behind it."""
_IMPORT_LINE: Final = re.compile(r"^\s*(?:import|from) \w", re.MULTILINE)


class Module:
    """A module, or some definitions of one, and the names of modules in it."""

    def __init__(self, name: str, source: str, *, is_package: bool = False) -> None:
        self.name, self._source = name, source
        self._package = name if is_package else name.rpartition(".")[0]
        self.room = room_of(f"{name.replace('.', '/')}{'/__init__' if is_package else ''}.py")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self._source)

    @cached_property
    def strings(self) -> frozenset[str]:
        """Its constants."""
        values = (node.value for node in self._nodes if isinstance(node, ast.Constant))
        return frozenset(value for value in values if isinstance(value, str))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters of all functions; in a test file and a conftest some are fixtures."""
        return frozenset(node.arg for node in self._nodes if isinstance(node, ast.arg))

    @cached_property
    def module_names(self) -> frozenset[str]:
        """Names that may be those of modules, or of something in a module."""
        names: set[str] = set()
        for node in self._nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    names.update(imported_by(node, self._package))
                case ast.List(elts=arguments) | ast.Tuple(elts=arguments) | ast.Call(args=arguments):
                    names.update(_started(arguments))
        for string in self.strings:
            match = _MODULE_NAME.fullmatch(string)
            names.update([match[1]] if match else _imported_by_code(string))
        return frozenset(names)

    @cached_property
    def other_rooms(self) -> frozenset[str]:
        """The rooms that are no packages of which it names a file."""
        parts = {part for string in self.strings if not re.search(r"\s", string) for part in string.split("/")}
        return frozenset(room for room, names in _file_names().items() if not names.isdisjoint(parts))

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))


def _started(arguments: Sequence[ast.expr]) -> Iterator[str]:
    """The programs behind `-m`."""
    words = [argument.value if isinstance(argument, ast.Constant) else None for argument in arguments]
    yield from (f"{word!s}.__main__" for flag, word in pairwise(words) if flag == "-m")


def _imported_by_code(string: str) -> list[str]:
    if not _IMPORT_LINE.search(string):
        return []
    try:
        return [imported.module for imported in imports(string, Path("code"), "")]
    except SyntaxError:
        return []


class Reach:
    """The imports of all modules. `read` returns a module by its name, or None where there is none of that name."""

    def __init__(self, read: Callable[[str], Module | None]) -> None:
        self._module = cache(lambda name: read(name) if name.partition(".")[0] in PACKAGES else None)
        self._imported = cache(self._find_imported)

    def rooms(self, file: Module, conftests: Iterable[Module]) -> frozenset[str]:
        """The rooms that a test file can reach; the first conftest is the nearest."""
        parts = [file, *used_fixtures(file, conftests)]
        modules = [*parts, *self._closure(parts)]
        packages = filter(None, (module.room for module in modules))
        return frozenset(packages).union(*(module.other_rooms for module in modules))

    def _closure(self, parts: Iterable[Module]) -> set[Module]:
        return reached((module for part in parts for module in self._imported(part)), self._imported)

    def _find_imported(self, module: Module) -> frozenset[Module]:
        """With the packages above each, which are imported first."""
        imported: set[Module] = set()
        for name in module.module_names:
            parts = name.split(".")
            names = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
            imported.update(filter(None, map(self._module, names)))
        return frozenset(imported)


def used_fixtures(file: Module, conftests: Iterable[Module]) -> Iterator[Module]:
    """Of each conftest the fixtures that the file uses, and the hooks and fixtures that are always used."""
    wanted = file.parameters | file.strings
    for conftest in conftests:
        definitions = select_definitions(conftest, wanted)
        yield definitions
        wanted |= definitions.parameters


def select_definitions(module: Module, wanted: frozenset[str]) -> Module:
    """The definitions of these names, with the definitions and imports that they need."""
    selected: list[ast.stmt] = []
    names = set(wanted)
    while new := [node for node in module.tree.body if node not in selected and _is_wanted(node, names)]:
        selected += new
        names.update(name for node in new for name in _names_in(node))
    return Module(module.name, "\n".join(map(ast.unparse, selected)))


def _is_wanted(node: ast.stmt, names: set[str]) -> bool:
    match node:
        case ast.Import(aliases) | ast.ImportFrom(names=aliases):
            return any((alias.asname or alias.name.partition(".")[0]) in names for alias in aliases)
        case ast.FunctionDef(name=name, decorator_list=decorators):
            is_always = name.startswith("pytest_") or any("autouse=True" in ast.unparse(one) for one in decorators)
            return is_always or name in names
        case ast.ClassDef(name=name):
            return name in names
        case ast.Assign(targets=targets):
            return any(name in names for target in targets for name in _names_in(target))
        case _:
            return False


def _names_in(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.arg):
            yield inner.arg


@cache
def _file_names() -> dict[str, frozenset[str]]:
    """By room that is no package: the names of its places and files; of scenarios also without `.yaml`."""
    names: dict[str, frozenset[str]] = {}
    for room, places in OTHER_ROOMS.items():
        paths = [TOP / place for place in places]
        files = [file for path in paths for file in path.rglob("*.*")]
        scenarios = {file.stem for file in files} if room == "scenarios" else set()
        names[room] = frozenset({path.stem for path in paths} | {path.name for path in (*paths, *files)} | scenarios)
    return names


def read_module(name: str) -> Module | None:
    """Reads a module of the checkout."""
    path = TOP.joinpath(*name.split("."))
    if (file := path.with_suffix(".py")).is_file():
        return Module(name, file.read_text())
    if (file := path / "__init__.py").is_file():
        return Module(name, file.read_text(), is_package=True)
    return None


def read_test(file: Path) -> tuple[Module, list[Module]]:
    """Reads a test file, and the conftests that apply to it, the nearest first."""
    conftests = (directory / "conftest.py" for directory in file.parents if directory.is_relative_to(TOP))
    return _read_file(file), [_read_file(path) for path in conftests if path.is_file()]


@cache
def _read_file(path: Path) -> Module:
    return Module(".".join(path.relative_to(TOP).with_suffix("").parts), path.read_text())
