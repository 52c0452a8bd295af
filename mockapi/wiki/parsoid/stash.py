r"""Takes out of a text what reaches over lines or must not be read as wikitext, and leaves a mark for each.

    "a<ref>b\nc</ref> {{d|e=[[f]]}}" ──> "a␡0␡ ␡1␡" with 0 = Extension("ref", …, "b\nc"), 1 = Template("d|e=[[f]]")

What is left can be read line by line. Marks stand between DEL characters, which no wikitext has.
"""

import re
from dataclasses import dataclass
from typing import Final

MARK: Final = re.compile("\x7f([0-9]+)\x7f")

_OPENING: Final = re.compile(
    r"<!--|<(nowiki|pre|ref|references|div|blockquote|center)(?=[\s/>])([^<>]*?)(/?)>|(?<!\{)\{\{(?!\{)", re.IGNORECASE
)
_BRACES: Final = re.compile(r"\{\{|\}\}")
_BLOCKS: Final = frozenset({"div", "blockquote", "center"})


@dataclass(frozen=True, slots=True)
class Commented:
    """A `<!-- … -->`, without the marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Extension:
    """`<nowiki>`, `<pre>`, `<ref>` or `<references>`; `body` is None for one that closes itself."""

    name: str
    attributes: str
    body: str | None


@dataclass(frozen=True, slots=True)
class StashedBlock:
    """An HTML element whose content is wikitext of its own."""

    tag: str
    attributes: str
    body: str


@dataclass(frozen=True, slots=True)
class Template:
    """What stands between two pairs of braces."""

    source: str


Stashed = Commented | Extension | StashedBlock | Template


class Stash:
    """What was taken out of one page, by the number of its mark."""

    def __init__(self) -> None:
        self._things: list[Stashed] = []

    def __getitem__(self, number: int) -> Stashed:
        return self._things[number]

    def marks(self, text: str) -> list[Stashed]:
        """What the marks in `text` stand for, in their order."""
        return [self[int(mark[1])] for mark in MARK.finditer(text)]

    def take_out(self, text: str, *, blocks: bool = True) -> str:
        """`text` with marks in the place of what was taken out; without `blocks` their tags stay."""
        text = text.replace("\x7f", "\ufffd")
        kept: list[str] = []
        unclosed = set() if blocks else set(_BLOCKS)
        at = 0
        while opening := _OPENING.search(text, at):
            stashed = self._read(text, opening, unclosed)
            end = opening.end() if stashed is None else stashed[1]
            kept.append(text[at : opening.start()])
            kept.append(opening[0] if stashed is None else self._mark(stashed[0]))
            at = end
        kept.append(text[at:])
        return "".join(kept)

    def _mark(self, thing: Stashed) -> str:
        self._things.append(thing)
        return f"\x7f{len(self._things) - 1}\x7f"

    def _read(self, text: str, opening: re.Match[str], unclosed: set[str]) -> tuple[Stashed, int] | None:
        """What begins at `opening`, and where it ends; None for what is never closed."""
        if opening[0] == "<!--":
            end = text.find("-->", opening.end())
            return (
                (Commented(text[opening.end() :]), len(text))
                if end < 0
                else (Commented(text[opening.end() : end]), end + 3)
            )
        if opening[0] == "{{":
            return None if "{{" in unclosed else _template(text, opening.end(), unclosed)
        name, attributes, slash = opening[1].lower(), opening[2], opening[3]
        if slash:
            return None if name in _BLOCKS else (Extension(name, attributes, None), opening.end())
        if name in unclosed:
            return None
        closing = _closing(text, name, opening.end())
        if closing is None:
            unclosed.add(name)
            return None
        body = text[opening.end() : closing.start()]
        thing = StashedBlock(name, attributes, body) if name in _BLOCKS else Extension(name, attributes, body)
        return thing, closing.end()


def _template(text: str, start: int, unclosed: set[str]) -> tuple[Stashed, int] | None:
    depth = 1
    for brace in _BRACES.finditer(text, start):
        depth += 1 if brace[0] == "{{" else -1
        if depth == 0:
            return Template(text[start : brace.start()]), brace.end()
    # Whatever opens later is closed no better, unless it is inside.
    unclosed.add("{{")
    return None


def _closing(text: str, name: str, start: int) -> re.Match[str] | None:
    """The tag that closes an element; elements of the same kind may be nested, extensions may not."""
    if name not in _BLOCKS:
        return re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, start)
    depth = 1
    for tag in re.compile(rf"<(/?){name}(?=[\s/>])[^<>]*>", re.IGNORECASE).finditer(text, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag
    return None
