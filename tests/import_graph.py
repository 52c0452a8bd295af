"""Which modules import which, read from their sources by `ast`."""

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Import:
    file: str
    line: int
    module: str


def imports(text: str, file: Path, package: str) -> Iterator[Import]:
    """All modules that `text` imports, wherever in it; a name imported from a package may be a module of it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (Import(str(file), node.lineno, module) for module in imported_by(node, package))


def imported_by(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """As `imports`, of one statement."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
    yield from (f"{base}.{alias.name}" for alias in node.names)


def reached(start: Iterable[T], needed: Callable[[T], Iterable[T]]) -> set[T]:
    """`start`, all that it needs, what that needs, and so on."""
    found: set[T] = set()
    left = list(start)
    while left:
        item = left.pop()
        if item not in found:
            found.add(item)
            left += needed(item)
    return found


def depends(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which of the modules, given by name and text, each of them imports, for types only as well."""
    found: dict[str, set[str]] = {}
    for name, text in sources.items():
        modules = (one.module for one in imports(text, Path(name), name.rpartition(".")[0]))
        named = {module if module in sources else module.rpartition(".")[0] for module in modules}
        found[name] = (named & sources.keys()) - {name}
    return found
