"""Sections: each heading begins one, which holds those of deeper headings after it."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from mockapi.wiki.parsoid.nodes import Element, Node, text_of

_AFTER: Final = re.compile(r"(?:[ \t]|\x7f[0-9]+\x7f)*$")


@dataclass(slots=True)
class _Open:
    level: int
    section: Element


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A heading in wikitext; `rest` are spaces and marks after it."""

    level: int
    content: str
    rest: str


def heading_line(line: str) -> HeadingLine | None:
    """`line` as a heading, unless it is none; what the two sides have too many of is part of its text."""
    if not line.startswith("="):
        return None
    end = line.rindex("=") + 1
    body, rest = line[:end], line[end:]
    if not _AFTER.fullmatch(rest):
        return None
    left = len(body) - len(body.lstrip("="))
    if left == len(body):
        level = min(6, (left - 1) // 2)
        return HeadingLine(level, body[level:-level], rest) if level else None
    level = min(left, len(body) - len(body.rstrip("=")), 6)
    return HeadingLine(level, body[level:-level], rest) if level else None


class Anchors:
    """Gives each heading of a page an id that no other has."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def put_on(self, heading: Element) -> None:
        """Sets the heading's id and, where older links would use another, an empty element with that one."""
        words = "_".join(text_of(heading.children).split())
        if not words:
            return
        times = self._taken.get(words.lower(), 0) + 1
        self._taken[words.lower()] = times
        anchor = words if times == 1 else f"{words}_{times}"
        heading.attributes.append(("id", anchor))
        older = quote(anchor, safe="_:.-").replace("~", "%7E").replace("%", ".")
        if older != anchor:
            heading.children.insert(0, Element("span", [("id", older), ("typeof", "mw:FallbackId")]))


def sectioned(nodes: list[Node], levels: dict[int, int]) -> list[Node]:
    """The nodes of a page in its sections; `levels` has the level of each heading by its place in `nodes`."""
    lead = _section(0)
    sections: list[Node] = [lead]
    open_sections: list[_Open] = []
    into = lead.children
    number = 0
    for place, node in enumerate(nodes):
        level = levels.get(place)
        if level is not None:
            number += 1
            while open_sections and open_sections[-1].level >= level:
                open_sections.pop()
            section = _section(number)
            (open_sections[-1].section.children if open_sections else sections).append(section)
            open_sections.append(_Open(level, section))
            into = section.children
        into.append(node)
    return sections


def _section(number: int) -> Element:
    return Element("section", [("data-mw-section-id", str(number))])
