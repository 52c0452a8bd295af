"""The lines of a text as blocks: paragraphs, headings, lists, rules and indented text.

newlines between two blocks:   1  the same paragraph      2  the next one
                               3  the next one, after a line break         4 and more  line breaks between
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from mockapi.wiki.parsoid.inline import inline
from mockapi.wiki.parsoid.nodes import Comment, Element, Node
from mockapi.wiki.parsoid.rendered_page import Page
from mockapi.wiki.parsoid.sections import Anchors, heading_line
from mockapi.wiki.parsoid.stash import MARK, StashedBlock
from mockapi.wiki.parsoid.stashed import BLOCK_TAGS

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
        match = LIST_LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"no list line: {line!r}")
        marks, content = match[1][:MAX_DEPTH], match[1][MAX_DEPTH:] + match[2]
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
    for match in _IN_TERM.finditer(content):
        depth += {"[[": 1, "]]": -1}.get(match[0], 0)
        if match[0] == ":" and depth <= 0:
            return match.start()
    return None


_RULE: Final = re.compile(r"-{4,}")
_METADATA: Final = frozenset({"link", "meta"})


@dataclass
class Blocks:
    """The blocks read so far: `nodes`, and in `levels` which of them are headings, by their place."""

    page: Page
    nodes: list[Node] = field(default_factory=list)
    levels: dict[int, int] = field(default_factory=dict)
    _anchors: Anchors = field(default_factory=Anchors)
    _newlines: int = 0
    _breaks: list[Node] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _list: list[str] = field(default_factory=list)
    _indented: list[str] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Adds the blocks of `text`, from which things were stashed already."""
        for n, line in enumerate(text.split("\n")):
            self._newlines += n > 0
            if line.strip(" \t"):
                self._read_line(line)
        self._end_all()
        self._space(text_follows=False)

    def add(self, node: Node) -> None:
        """Ends what is open first: paragraph, list, indented text."""
        self._end_all()
        self.nodes.append(node)

    def _read_line(self, line: str) -> None:
        if heading := heading_line(line):
            self._between(text_follows=False)
            self._heading(heading.level, heading.content.strip(" \t"), heading.rest)
        elif LIST_LINE.match(line):
            if not (self._list and self._newlines == 1):
                self._between(text_follows=False)
            self._newlines = 0
            self._list.append(line)
        elif rule := _RULE.match(line):
            self._between(text_follows=False)
            self.nodes.append(Element("hr"))
            if rest := line[rule.end() :].strip(" \t"):
                self._lines.append(rest)
        elif line.startswith((" ", "\t")) and not self._is_block(line):
            if not (self._indented and self._newlines == 1):
                self._between(text_follows=False)
            self._newlines = 0
            self._indented.append(line[1:])
        else:
            if not (self._lines and self._newlines == 1):
                self._between(text_follows=True)
            self._newlines = 0
            self._lines.append(line)

    def _is_block(self, line: str) -> bool:
        """Whether an indented line holds an HTML block, and so is not indented text."""
        return (
            any(isinstance(thing, StashedBlock) for thing in self.page.stash.marks(line))
            or not MARK.sub("", line).strip()
        )

    def _between(self, *, text_follows: bool) -> None:
        self._end_all()
        self._space(text_follows=text_follows)

    def _space(self, *, text_follows: bool) -> None:
        """Writes the newlines before a block, with the paragraphs that more than two of them make."""
        left, self._newlines = self._newlines, 0
        open_breaks: list[Node] = []
        while left >= 3:
            if open_breaks:
                self.nodes.append(Element("p", [], open_breaks))
            self.nodes.append("\n")
            open_breaks = ["\n", Element("br")]
            left -= 2
        if left == 1 and text_follows and open_breaks:
            self._breaks = [*open_breaks, "\n"]
            return
        if open_breaks:
            self.nodes.append(Element("p", [], open_breaks))
        if left:
            self.nodes.append("\n" * left)

    def _end_all(self) -> None:
        if self._lines:
            lines, self._lines = self._lines, []
            breaks, self._breaks = self._breaks, []
            self.nodes += paragraphs(inline(self.page, "\n".join(lines)), breaks)
        elif self._list:
            lines, self._list = self._list, []
            self.nodes += lists(lines, lambda text: inline(self.page, text))
        elif self._indented:
            lines, self._indented = self._indented, []
            self.nodes.append(Element("pre", [], inline(self.page, "\n".join(lines))))

    def _heading(self, level: int, content: str, rest: str) -> None:
        heading = Element(f"h{level}", [], inline(self.page, content))
        self._anchors.put_on(heading)
        self.levels[len(self.nodes)] = level
        self.nodes.append(heading)
        if rest:
            self.nodes += inline(self.page, rest)


def paragraphs(nodes: list[Node], breaks: Sequence[Node] = ()) -> list[Node]:
    """`nodes` with what is text in paragraphs; blocks among them, and metadata at either end, stay outside.

    `breaks` are the line breaks with which the first paragraph begins.
    """
    blocks: list[Node] = []
    run: list[Node] = [Element("", [], list(breaks))] if breaks else []
    for node in nodes:
        if isinstance(node, Element) and node.tag in BLOCK_TAGS:
            blocks += _paragraph(run)
            run = []
            blocks.append(node)
        else:
            run.append(node)
    return blocks + _paragraph(run)


def _paragraph(run: list[Node]) -> list[Node]:
    start, end = 0, len(run)
    while start < end and _is_outside(run[start]):
        start += 1
    while end > start and _is_outside(run[end - 1]):
        end -= 1
    if start == end:
        return run
    # Spaces stay with the text, newlines with what follows.
    while end < len(run) and isinstance(run[end], str) and run[end] != "\n":
        end += 1
    text = run[start:end]
    if isinstance(text[0], Element) and not text[0].tag:
        text[:1] = text[0].children
    return [*run[:start], Element("p", [], text), *run[end:]]


def _is_outside(node: Node) -> bool:
    if isinstance(node, str):
        return not node.strip()
    return isinstance(node, Comment) or node.tag in _METADATA
