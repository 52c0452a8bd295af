"""Lists: lines that begin with `*`, `#`, `:` or `;`, as deep as they have of those."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from mockapi.wiki.parsoid.nodes import Element, Node

LIST_LINE: Final = re.compile(r"([*#:;]+)(.*)", re.DOTALL)
MAX_DEPTH: Final = 100

_TAGS: Final = {"*": ("ul", "li"), "#": ("ol", "li"), ":": ("dl", "dd"), ";": ("dl", "dt")}
_IN_TERM: Final = re.compile(r"\[\[|\]\]|<[^<>]*>|\x7f[0-9]+\x7f|://|:")


@dataclass(slots=True)
class _Level:
    list: Element
    item: Element
    kind: str


def lists(lines: Sequence[str], inline: Callable[[str], list[Node]]) -> list[Node]:
    """The nodes of consecutive lines that all match LIST_LINE; newlines stand where the source has them."""
    out: list[Node] = []
    open_levels: list[_Level] = []
    for line in lines:
        found = LIST_LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"no list line: {line!r}")
        marks, content = found[1][:MAX_DEPTH], found[1][MAX_DEPTH:] + found[2]
        same = len(
            list(
                takewhile(
                    lambda pair: _TAGS[pair[0].kind][0] == _TAGS[pair[1]][0], zip(open_levels, marks, strict=False)
                )
            )
        )
        del open_levels[same:]
        if same == len(marks):
            level = open_levels[-1]
            level.item = Element(_TAGS[marks[-1]][1])
            level.list.children += ["\n", level.item]
        else:
            siblings = open_levels[-1].item.children if open_levels else out
            if siblings:
                siblings.append("\n")
            for mark in marks[same:]:
                list_tag, item_tag = _TAGS[mark]
                item = Element(item_tag)
                made = Element(list_tag, [], [item])
                siblings.append(made)
                open_levels.append(_Level(made, item, mark))
                siblings = item.children
        _fill(open_levels[-1], content, inline)
    return out


def _fill(level: _Level, content: str, inline: Callable[[str], list[Node]]) -> None:
    colon = _colon(content) if level.item.tag == "dt" else None
    level.item.children = inline((content if colon is None else content[:colon]).strip())
    if colon is not None:
        level.item = Element("dd", [], inline(content[colon + 1 :].strip()))
        level.list.children.append(level.item)
    if not level.item.children and not level.item.attributes:
        level.item.attributes = [("class", "mw-empty-elt")]


def _colon(content: str) -> int | None:
    """Where a term ends and its definition begins; a colon in a link, a tag or an address ends none."""
    depth = 0
    for found in _IN_TERM.finditer(content):
        depth += {"[[": 1, "]]": -1}.get(found[0], 0)
        if found[0] == ":" and depth <= 0:
            return found.start()
    return None
