"""Which classes take how much of a heap: from a JVM's own histogram, or from a heap dump."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ROW = re.compile(r"^ *\d+: +(\d+) +(\d+) +(\S+)", re.MULTILINE)
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
    objects: int
    size: int


def in_histogram(text: str) -> list[ClassTotal]:
    """The answer to `inspectheap`, largest first."""
    return largest(ClassTotal(readable(row[3]), int(row[1]), int(row[2])) for row in _ROW.finditer(text))


def largest(totals: Iterable[ClassTotal]) -> list[ClassTotal]:
    """Ordered by size; those of one name are added, as several class loaders may have it."""
    found: dict[str, ClassTotal] = {}
    for one in totals:
        other = found.get(one.name, ClassTotal(one.name, 0, 0))
        found[one.name] = ClassTotal(one.name, other.objects + one.objects, other.size + one.size)
    return sorted(found.values(), key=lambda one: (-one.size, one.name))


def readable(name: str) -> str:
    """As a person writes it: `byte[]` for `[B`, `java.lang.String[]` for `[Ljava/lang/String;`."""
    inner = name.lstrip("[")
    depth = len(name) - len(inner)
    if depth:
        inner = _PRIMITIVES.get(inner) or inner.removeprefix("L").removesuffix(";")
    return inner.replace("/", ".") + "[]" * depth


def table(totals: Iterable[ClassTotal], count: int) -> list[str]:
    """Lines for a person: the first `count` of them below a heading."""
    rows = [f"{one.size / (1 << 20):>9.1f} {one.objects:>12,}  {one.name}" for one in list(totals)[:count]]
    return [f"{'MiB':>9} {'objects':>12}  class", *rows]
