"""The elements of an article, each one line of Parsoid-like HTML.

An element is a function of its place and of drawn bits: `shape` (kind, reference) belongs to the place for ever,
`text` to the last edit. Ids and reference numbers come from the place, so an edit moves no other line.

What an element says (`…_words`) is drawn apart from how it is marked up: the wikitext says the same.
"""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mockapi.wiki.pages.prose import Prose

_FIRST_ELEMENT_ID: Final = 16
_IDS_A_PLACE: Final = 4
_ADDED_FROM: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element stands: `index` from 0; `href` of its own page; `added` for one that an edit put in."""

    index: int
    href: str
    added: bool = False

    def id(self, part: int) -> str:
        """The id of the element's `part`-th node, below 4."""
        start = _ADDED_FROM if self.added else _FIRST_ELEMENT_ID
        return element_id(start + self.index * _IDS_A_PLACE + part)


class Bits:
    """Drawn bits, taken a choice at a time."""

    __slots__ = ("_left",)

    def __init__(self, drawn: int) -> None:
        self._left = drawn

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1."""
        self._left, taken = divmod(self._left, bound)
        return taken

    def of(self, items: tuple[str, ...]) -> str:
        """One of `items`, all equally likely."""
        return items[self.below(len(items))]


@lru_cache(maxsize=1 << 14)
def element_id(counter: int) -> str:
    """Parsoid's ids: `mw` and the counter's bytes in base64url: 0 is `mwAA`, 1 `mwAQ`, 4 `mwBA`."""
    raw = counter.to_bytes(max(1, -(-counter.bit_length() // 8)), "big")
    return "mw" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def has_reference(shape: int) -> bool:
    """One paragraph in ten does, by the bits of its shape; other elements do not."""
    return kind(shape) is paragraph and Bits(shape >> 8).below(10) == 0


def link(place: Place, part: int, topic: str) -> str:
    """To another page of the wiki, marked up as Parsoid does."""
    href = topic.replace(" ", "_")
    return f'<a rel="mw:WikiLink" href="./{href}" title="{topic}" id="{place.id(part)}">{topic}</a>'


def reference(place: Place) -> str:
    """The mark in the text; its note stands in `note`."""
    number = place.index + 1
    data = f'{{"name":"ref","attrs":{{}},"body":{{"id":"mw-reference-text-cite_note-{number}"}}}}'
    return (
        f'<sup about="#mwt{number}" class="mw-ref reference" id="cite_ref-{number}" rel="dc:references" '
        f"typeof=\"mw:Extension/ref\" data-mw='{data}'>"
        f'<a href="./{place.href}#cite_note-{number}" style="counter-reset: mw-Ref {number};">'
        f'<span class="mw-reflink-text">[{number}]</span></a></sup>'
    )


def note(place: Place, text: Bits, prose: Prose) -> str:
    """The entry of a reference in the list at the end."""
    number, topic = place.index + 1, note_words(text, prose)
    return (
        f'<li about="#cite_note-{number}" id="cite_note-{number}"><span class="mw-cite-backlink">'
        f'<a href="./{place.href}#cite_ref-{number}" rel="mw:referencedBy"><span class="mw-linkback-text">↑ </span></a>'
        f'</span> <span id="mw-reference-text-cite_note-{number}" class="mw-reference-text">'
        f'<a rel="mw:ExtLink nofollow" href="{note_url(place.index)}" class="external text" id="{place.id(3)}">'
        f"{topic}</a></span></li>"
    )


def note_url(index: int) -> str:
    """The target of the reference's external link, on example.org; indexes count from 0."""
    return f"https://example.org/{index + 1}"


def note_words(text: Bits, prose: Prose) -> str:
    """The text of the reference's external link."""
    return text.of(prose.topics)


def paragraph(place: Place, text: Bits, prose: Prose) -> str:
    """Prose with a link; every other one is short."""
    first, topic, rest = paragraph_words(text, prose)
    return f'<p id="{place.id(0)}">{first} {link(place, 1, topic)}{rest}</p>'


def paragraph_words(text: Bits, prose: Prose) -> tuple[str, str, str]:
    """A sentence, the topic of the link, and what follows."""
    first, topic = text.of(prose.sentences), text.of(prose.topics)
    return first, topic, f": {text.of(prose.sentences)}" if text.below(2) else "."


def bullets(place: Place, text: Bits, prose: Prose) -> str:
    """A list of two items, each a link."""
    first, second = pair_words(text, prose)
    return f'<ul id="{place.id(0)}"><li>{link(place, 1, first)}</li><li>{link(place, 2, second)}</li></ul>'


def pair_words(text: Bits, prose: Prose) -> tuple[str, str]:
    """Two topics, which may be the same."""
    return text.of(prose.topics), text.of(prose.topics)


def figure(place: Place, text: Bits, prose: Prose) -> str:
    """A picture with a caption, marked up as Parsoid does."""
    topic, caption = figure_words(text, prose)
    file = f"./File:{topic.replace(' ', '_')}.jpg"
    return (
        f'<figure class="mw-default-size" typeof="mw:File/Thumb" id="{place.id(0)}">'
        f'<a href="{file}" class="mw-file-description" id="{place.id(1)}"><img resource="{file}" '
        f'width="250" height="188" class="mw-file-element" id="{place.id(2)}"/></a>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def figure_words(text: Bits, prose: Prose) -> tuple[str, str]:
    """The name of the file without its ending, and the caption."""
    return text.of(prose.topics), text.of(prose.sentences)


def infobox(place: Place, text: Bits, prose: Prose) -> str:
    """A table with the `data-mw` of the template call that it stands for."""
    name, value = pair_words(text, prose)
    parts = {
        "template": {
            "target": {"wt": "Infobox", "href": "./Template:Infobox"},
            "params": {"name": {"wt": name}, "area": {"wt": value}},
            "i": 0,
        }
    }
    data = json.dumps({"parts": [parts]}, ensure_ascii=False, separators=(",", ":"))
    return (
        f'<table class="infobox" about="#mwt{place.index + 1}" typeof="mw:Transclusion" data-mw=\'{data}\' '
        f'id="{place.id(0)}"><tbody><tr><th>{name}</th><td>{value}</td></tr></tbody></table>'
    )


Element = Callable[[Place, Bits, Prose], str]

_KINDS: tuple[Element, ...] = (paragraph,) * 11 + (bullets,) * 3 + (figure, infobox)


def kind(shape: int) -> Element:
    """The element for 8 drawn bits of `shape`: mostly paragraphs."""
    return _KINDS[shape % len(_KINDS)]
