"""Totals of a heap by class."""

from collections.abc import Iterable
from dataclasses import dataclass

_PRIMITIVES = {
    "Z": "boolean",
    "B": "byte",
    "C": "char",
    "S": "short",
    "I": "int",
    "J": "long",
    "F": "float",
    "D": "double",
}


@dataclass(frozen=True, slots=True)
class ClassTotal:
    """`size` is in bytes, of the objects themselves and not of what they refer to."""

    name: str
    size: int


def largest(totals: Iterable[ClassTotal]) -> list[ClassTotal]:
    """Ordered by size; those of one name are added, as several class loaders may have it."""
    sizes: dict[str, int] = {}
    for total in totals:
        sizes[total.name] = sizes.get(total.name, 0) + total.size
    return sorted((ClassTotal(*item) for item in sizes.items()), key=lambda total: (-total.size, total.name))


def readable(name: str) -> str:
    """As a person writes it: `byte[]` for `[B`, `java.lang.String[]` for `[Ljava/lang/String;`."""
    inner = name.lstrip("[")
    depth = len(name) - len(inner)
    if depth:
        inner = _PRIMITIVES.get(inner) or inner.removeprefix("L").removesuffix(";")
    return inner.replace("/", ".") + "[]" * depth
