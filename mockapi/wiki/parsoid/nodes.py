"""The tree between wikitext and HTML, and how Parsoid writes it.

Every element that has no id of its own gets one when it is written: `mw` and its number in document order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mockapi.wiki.pages.elements import element_id

_VOID: Final = frozenset({"br", "hr", "img", "link", "meta", "wbr"})
# Nothing in a comment may look like its end.
_IN_COMMENT: Final = str.maketrans({"-": "&#x2D;", ">": "&#x3E;", "&": "&#x26;"})
_FIRST_ID: Final = 1


@dataclass(slots=True)
class Element:
    """`attributes` in the order in which they are written."""

    tag: str
    attributes: list[tuple[str, str]] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """None without the attribute; of several of that name the first."""
        return next((value for given, value in self.attributes if given == name), None)


@dataclass(frozen=True, slots=True)
class Comment:
    """What stands between `<!--` and `-->`."""

    text: str


Node = Element | Comment | str


def text_of(nodes: Iterable[Node]) -> str:
    """The text in `nodes`, without markup."""
    texts: list[str] = []
    left = list(nodes)[::-1]
    while left:
        node = left.pop()
        if isinstance(node, str):
            texts.append(node)
        elif isinstance(node, Element):
            left.extend(reversed(node.children))
    return "".join(texts)


def serialise(nodes: Iterable[Node]) -> str:
    """The HTML of `nodes`; the body around them has the number 0. Depth is no matter."""
    left: list[Node | tuple[str]] = [*nodes]
    return "".join(_written(left[::-1]))


def _written(left: list[Node | tuple[str]]) -> Iterator[str]:
    number = _FIRST_ID
    while left:
        node = left.pop()
        if isinstance(node, str):
            yield node.replace("&", "&amp;").replace("<", "&lt;")
        elif isinstance(node, tuple):
            yield f"</{node[0]}>"
        elif isinstance(node, Comment):
            yield f"<!--{node.text.translate(_IN_COMMENT)}-->"
        else:
            attributes = node.attributes
            if node.get("id") is None:
                attributes = [*attributes, ("id", element_id(number))]
                number += 1
            written = "".join(f" {name}={quoted(value)}" for name, value in attributes)
            if node.tag in _VOID:
                yield f"<{node.tag}{written}/>"
            else:
                yield f"<{node.tag}{written}>"
                left.append((node.tag,))
                left.extend(reversed(node.children))


def quoted(value: str) -> str:
    """An attribute's value between the quotes of which it has fewer inside."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;")
    if value.count('"') > value.count("'"):
        return "'" + escaped.replace("'", "&apos;") + "'"
    return '"' + escaped.replace('"', "&quot;") + '"'
