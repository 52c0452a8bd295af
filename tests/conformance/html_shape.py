"""Parsoid HTML as something that can be compared and read in a diff: one line for a tag, indented as it is nested.

The document's own attributes and its head are taken whole, with the order of elements and attributes; of the body an
element keeps tag, attribute names, the values of those that carry Parsoid's meaning, and its text. Long texts are cut.
"""

import hashlib
from html.parser import HTMLParser
from typing import Final

MOST_LINES: Final = 160
MOST_TEXT: Final = 100
_VOID: Final = frozenset({"meta", "link", "base", "br", "img", "hr", "input", "source", "wbr", "col"})
_NUMBERED_IDS: Final = ("mw", "mwt")


def is_html(text: str) -> bool:
    """Whether a text is a document or a piece of HTML."""
    return text.startswith("<") and text.rstrip().endswith(">")


def shape(document: str) -> list[str]:
    """The lines of a document; beyond MOST_LINES, how many more there are and their hash."""
    reader = _Reader()
    reader.feed(document)
    reader.close()
    lines = reader.lines
    if len(lines) <= MOST_LINES:
        return lines
    rest = "\n".join(lines[MOST_LINES:])
    return [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} lines, sha1 {_sha1(rest)}"]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._open: list[str] = []

    def handle_decl(self, decl: str) -> None:
        self._add(f"<!{decl}>")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add(f"<{tag}{''.join(map(_attribute, attrs))}>")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add(f"<{tag}{''.join(map(_attribute, attrs))}/>")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_comment(self, data: str) -> None:
        self._add(f"<!--{data}-->")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._add(_cut(data.strip()))

    def _add(self, line: str) -> None:
        self.lines.append(" " * len(self._open) + line)


def _attribute(attribute: tuple[str, str | None]) -> str:
    name, value = attribute
    if value is None:
        return f" {name}"
    if name == "id" and value.startswith(_NUMBERED_IDS):
        # Parsoid counts on for parts that leave nothing in the page: which number it is, is its own affair.
        value = "mw…"
    if name == "about" and value.startswith("#mwt"):
        value = "#mwt…"
    return f''' {name}="{_cut(value, 400).replace('"', "&quot;")}"'''


def _cut(text: str, most: int = MOST_TEXT) -> str:
    if len(text) <= most:
        return text.replace("\n", "\\n")
    return f"{text[:most]}... {len(text)} characters, sha1 {_sha1(text)}".replace("\n", "\\n")


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]
