"""The tree that an action answers with, and how each format version writes it.

                     formatversion=1                  formatversion=2
    True, False      "", absent                       true, false
    Content("x")     last in its node, named "*"      "x" where it stands
    Numbered         a list if the numbers end at     the same, or always one of them
                     count - 1, else an object
    empty mapping    []                               []
    empty Record     {}                               {}

The rest is the same in both. These are PHP's ways with arrays, which clients have come to know.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Union

from mockapi.api.rest.envelope import json_text

Tree = Union[
    str, int, float, bool, None, "Content", "Always", "Numbered", "Record", Mapping[str, "Tree"], Sequence["Tree"]
]

_AS_THEY_ARE: Final = frozenset({str, int, float, type(None)})
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Content:
    """A node's text: in format version 1 its last member, named `*`."""

    text: str


@dataclass(frozen=True, slots=True)
class Always:
    """A boolean that is one in version 1 too."""

    value: bool


@dataclass(frozen=True, slots=True)
class Numbered:
    """Nodes by number. `modern` is what version 2 has in its place; None leaves that to the numbers."""

    nodes: Mapping[int, Tree]
    modern: Literal["list", "object"] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Members of an object that stays one when it is empty."""

    members: Mapping[str, Tree]


def size(tree: Tree) -> int:
    """The length as MediaWiki counts it: the bytes of all values, without names and signs."""
    match tree:
        case str():
            return len(tree) if tree.isascii() else len(tree.encode())
        case dict() | Mapping():
            return sum(map(size, tree.values()))
        case bool() | None:
            return 1 if tree else 0
        case int() | float():
            return len(str(tree))
        case Content(text):
            return size(text)
        case Always(value):
            return size(value)
        case Numbered(nodes):
            return sum(map(size, nodes.values()))
        case Record(members):
            return size(members)
        case _:
            return sum(map(size, tree))


def to_json(tree: Mapping[str, Tree], *, version: int, ascii_only: bool) -> bytes:
    """The answer in UTF-8, compact, in PHP's spelling."""
    written = json_text(_mapping(tree, version))
    if not ascii_only or written.isascii():
        return written
    return _NOT_ASCII.sub(_escaped, written.decode()).encode()


def _node(tree: Tree, version: int) -> object:
    match tree:
        case None | str() | bool() | int() | float():
            return "" if tree is True and version == 1 else tree
        case dict() | Mapping():
            return _mapping(tree, version) or []
        case Content(text):
            return text
        case Always(value):
            return value
        case Numbered():
            return _numbered(tree, version)
        case Record(members):
            return _mapping(members, version)
        case _:
            return [_node(item, version) for item in tree]


def _mapping(tree: Mapping[str, Tree], version: int) -> dict[str, object]:
    if version != 1:
        return {name: value if type(value) in _AS_THEY_ARE else _node(value, version) for name, value in tree.items()}
    node: dict[str, object] = {}
    content: Content | None = None
    for name, value in tree.items():
        if isinstance(value, Content):
            content = value
        elif value is not False:
            node[name] = value if type(value) in _AS_THEY_ARE else _node(value, version)
    if content is not None:
        node["*"] = content.text
    return node


def _numbered(tree: Numbered, version: int) -> object:
    nodes = {number: _node(value, version) for number, value in tree.nodes.items()}
    modern = tree.modern if version != 1 else None
    if not nodes or modern == "list" or (modern is None and max(nodes) == len(nodes) - 1):
        return [node for _, node in sorted(nodes.items(), key=lambda item: item[0])]
    return {str(number): value for number, value in nodes.items()}


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
