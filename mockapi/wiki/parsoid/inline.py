"""Text within a block: emphasis, links, tags, entities and what was stashed.

text ──> tokens (text, apostrophes, tags, nodes) ──> apostrophes become tags, line by line ──> tree
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Final

from mockapi.wiki.parsoid.links import external_link, wiki_link
from mockapi.wiki.parsoid.nodes import Comment, Element, Node
from mockapi.wiki.parsoid.rendered_page import Page
from mockapi.wiki.parsoid.stashed import Abouts, attributes_of, node_of

Tags = list[str]


def _balanced(runs: Sequence[int], before: Sequence[str]) -> list[tuple[int, int]]:
    """For each run of two and more apostrophes of a line: how many are text, and how many markup (2, 3 or 5).

    `before[n]` is the text that stands before run n, back to the run before it.
    """
    split = [_split(run) for run in runs]
    italics = sum(markup in {2, 5} for _, markup in split)
    bolds = sum(markup in {3, 5} for _, markup in split)
    if italics % 2 == 0 or bolds % 2 == 0:
        return split
    chosen = _not_bold(split, before)
    if chosen is not None:
        plain, _ = split[chosen]
        split[chosen] = (plain + 1, 2)
    return split


def _split(run: int) -> tuple[int, int]:
    if run == 4:
        return 1, 3
    return (run - 5, 5) if run > 5 else (0, run)


def _not_bold(split: Sequence[tuple[int, int]], before: Sequence[str]) -> int | None:
    """The bold mark that is most likely an apostrophe and an italic one."""
    first: dict[str, int] = {}
    for n, (plain, markup) in enumerate(split):
        if markup != 3:
            continue
        text = before[n] + "'" * plain
        if text[-1:] == " ":
            first.setdefault("space", n)
        elif text[-2:-1] == " ":
            return n
        else:
            first.setdefault("word", n)
    return first.get("word", first.get("space"))


def _quote_tags(markups: Sequence[int]) -> list[Tags]:
    """For each mark of a line the tags it stands for, such as `["/b", "i"]`; last, those that close the line."""
    open_tags: list[str] = []
    written: list[Tags] = []
    for n, markup in enumerate(markups):
        following = markups[n + 1] if n + 1 < len(markups) else 0
        written.append(_toggled(open_tags, markup, following))
    written.append([f"/{tag}" for tag in reversed(open_tags)])
    return written


def _toggled(open_tags: list[str], markup: int, following: int) -> Tags:
    if markup == 5:
        if not open_tags:
            both = ["i", "b"] if following in {3, 5} else ["b", "i"]
            open_tags.extend(both)
            return both
        closing = [f"/{tag}" for tag in reversed(open_tags)]
        opening = [tag for tag in ("i", "b") if tag not in open_tags]
        open_tags[:] = opening
        return closing + opening
    tag = "i" if markup == 2 else "b"
    if tag not in open_tags:
        open_tags.append(tag)
        return [tag]
    inner = open_tags[open_tags.index(tag) + 1 :]
    open_tags[:] = [other for other in open_tags if other != tag]
    return [*(f"/{other}" for other in reversed(inner)), f"/{tag}", *inner]


_TAGS: Final = frozenset(
    re.findall(
        r"[a-z]+",
        "abbr b bdi bdo big blockquote br center cite code data del dfn div em font i ins kbd mark q s samp small span "
        "strike strong sub sup time tt u var wbr",
    )
)
_EMPTY: Final = frozenset({"br", "wbr"})
_IN_ADDRESS: Final = r"(?:(?!'')[^\s\[\]<>\"\x7f])+"
_ADDRESS: Final = rf"(?:(?:https?|ftp)://|//|mailto:){_IN_ADDRESS}"
_TOKEN: Final = re.compile(
    rf"""
      \x7f(?P<mark>[0-9]+)\x7f
    | (?P<quotes>'{{2,}}+)
    | (?P<line>\n)
    | \[\[ (?P<target>[^\[\]\n|{{}}\x7f]++)
        (?: \| (?P<label>(?:[^\[\]]|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])*+) )?
      \]\] (?P<tail>[a-z]*+)
    | \[ (?P<outside>{_ADDRESS}) (?: [ ]+ (?P<words>[^\[\]\n]*+) )? \]
    | (?P<free>(?<![A-Za-z0-9])(?:(?:https?|ftp)://|mailto:){_IN_ADDRESS})
    | < (?P<slash>/?) (?P<tag>[A-Za-z][A-Za-z0-9]*+) (?P<attributes>(?:[\s/][^<>]*)?) >
    | & (?P<entity>\#[0-9]+|\#[xX][0-9a-fA-F]+|[A-Za-z0-9]+) ;
    | __ (?P<switch>[A-Z]++) __
    """,
    re.VERBOSE,
)
_FRENCH: Final = re.compile("(?<=\\S) (?=[?:;!%\u00bb\u203a](?!\\w))|(?<=[\u00ab\u2039]) ")
_SWITCHES: Final = frozenset(
    re.findall(
        r"[A-Z]+",
        "NOTOC FORCETOC TOC NOEDITSECTION NEWSECTIONLINK NONEWSECTIONLINK NOGALLERY HIDDENCAT EXPECTUNUSEDCATEGORY "
        "INDEX NOINDEX STATICREDIRECT NOCONTENTCONVERT NOCC NOTITLECONVERT NOTC",
    )
)


@dataclass(frozen=True, slots=True)
class _Tag:
    """A start tag, or an end tag when `name` begins with a slash."""

    name: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Quotes:
    length: int


@dataclass(frozen=True, slots=True)
class _LineEnd:
    pass


_Token = str | _Tag | _Quotes | _LineEnd | Element | Comment


def inline(page: Page, text: str) -> list[Node]:
    """The nodes of `text`, from which things were stashed already."""
    return _tree(_emphasised(_tokens(page, text)))


def _tokens(page: Page, text: str) -> Iterator[_Token]:
    abouts = Abouts.of(page, page.stash.marks(text))
    at = look_from = 0
    while match := _TOKEN.search(text, look_from):
        token, look_from = _token(page, match, abouts)
        if token is None:
            continue
        if match.start() > at:
            yield text[at : match.start()]
        yield token
        at = look_from
    if at < len(text):
        yield text[at:]


def _token(page: Page, match: re.Match[str], abouts: Abouts) -> tuple[_Token | None, int]:
    """The token, None for mere text, and where it ends."""
    end = match.end()

    def nested(text: str) -> list[Node]:
        return inline(page, text)

    match match.lastgroup:
        case "mark":
            return node_of(page, page.stash[int(match["mark"])], abouts, nested), end
        case "quotes":
            return _Quotes(len(match["quotes"])), end
        case "line":
            return _LineEnd(), end
        case "tail":
            link = wiki_link(page, match["target"], match["label"], match["tail"], nested)
            return link, end if link is None or link.tag == "a" else match.start("tail")
        case "outside" | "words":
            words = match["words"]
            return external_link(match["outside"], inline(page, words) if words else None, _kind(words)), end
        case "free":
            address = _without_punctuation(match["free"])
            return external_link(address, [address], "free"), match.start("free") + len(address)
        case "attributes":
            return _tag(match), end
        case "entity":
            return _entity(match), end
        case _:
            return _switch(page, match["switch"]), end


def _kind(words: str | None) -> str:
    return "text" if words else "autonumber"


def _without_punctuation(address: str) -> str:
    closing = "" if "(" in address else ")"
    return address.rstrip(",;.:!?" + closing)


def _tag(match: re.Match[str]) -> _Token | None:
    name = match["tag"].lower()
    if name not in _TAGS:
        return None
    if name in _EMPTY:
        return Element(name, attributes_of(match["attributes"]))
    if match["slash"]:
        return _Tag(f"/{name}")
    return _Tag(name, tuple(attributes_of(match["attributes"])))


def _entity(match: re.Match[str]) -> Element | None:
    name = match["entity"]
    if not name.startswith("#") and f"{name};" not in html5:
        return None
    return Element("span", [("typeof", "mw:Entity")], [html.unescape(match[0])])


def _switch(page: Page, name: str) -> Element | None:
    if name not in _SWITCHES:
        return None
    page.switches.add(name)
    return Element("meta", [("property", f"mw:PageProp/{name.lower()}")])


def _emphasised(tokens: Iterator[_Token]) -> Iterator[Node | _Tag]:
    line: list[_Token] = []
    for token in tokens:
        if isinstance(token, _LineEnd):
            yield from _line(line)
            yield "\n"
            line = []
        else:
            line.append(token)
    yield from _line(line)


def _line(line: list[_Token]) -> Iterator[Node | _Tag]:
    runs: list[int] = []
    before: list[str] = [""]
    for token in line:
        if isinstance(token, _Quotes):
            runs.append(token.length)
            before.append("")
        elif isinstance(token, str):
            before[-1] += token
        else:
            before[-1] += "\0\0"
    marks = _balanced(runs, before)
    tags = iter(_quote_tags([markup for _, markup in marks]))
    plain = iter(plain for plain, _ in marks)
    for token in line:
        if isinstance(token, _Quotes):
            if apostrophes := next(plain):
                yield "'" * apostrophes
            yield from map(_Tag, next(tags))
        elif not isinstance(token, _LineEnd):
            yield token
    yield from map(_Tag, next(tags))


def _tree(parts: Iterator[Node | _Tag]) -> list[Node]:
    root = Element("", [], [])
    open_elements = [root]
    open_tags: Counter[str] = Counter()
    for part in parts:
        if not isinstance(part, _Tag):
            _append(open_elements[-1].children, part)
        elif not part.name.startswith("/"):
            element = Element(part.name, list(part.attributes))
            open_elements[-1].children.append(element)
            open_elements.append(element)
            open_tags[element.tag] += 1
        elif open_tags[part.name[1:]]:
            tag = ""
            while tag != part.name[1:]:
                tag = open_elements.pop().tag
                open_tags[tag] -= 1
    return root.children


def _append(children: list[Node], part: Node) -> None:
    if not isinstance(part, str):
        children.append(part)
        return
    for n, piece in enumerate(_FRENCH.split(part)):
        if n:
            children.append(Element("span", [("typeof", "mw:DisplaySpace")], ["\u00a0"]))
        if piece:
            children.append(piece)
