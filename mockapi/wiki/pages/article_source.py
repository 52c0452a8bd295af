"""The source of an article: its outline in wikitext, a paragraph, list, picture or template a block.

Whatever the HTML of a revision says, its source says too; so they change together, in the same few places.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from mockapi.wiki.pages.elements import (
    Bits,
    Element,
    bullets,
    figure,
    figure_words,
    has_reference,
    infobox,
    kind,
    note_url,
    note_words,
    pair_words,
    paragraph,
    paragraph_words,
)
from mockapi.wiki.pages.outline import ArticleId, Outline, outline
from mockapi.wiki.pages.prose import Prose

_SOURCES_KEPT: Final = 2048
_MEASURES_KEPT: Final = 32768


class Measure(NamedTuple):
    """Length of a source in bytes of UTF-8, and its SHA-1 in hex digits."""

    size: int
    sha1: str


@lru_cache(maxsize=_SOURCES_KEPT)
def generate(article: ArticleId) -> str:
    """The wikitext, which as MediaWiki keeps it ends without a newline; the same in every process."""
    return "\n\n".join(_blocks(outline(article)))


@lru_cache(maxsize=_MEASURES_KEPT)
def measure(article: ArticleId) -> Measure:
    """Size and SHA-1 of the wikitext."""
    source = generate(article).encode()
    return Measure(len(source), hashlib.sha1(source, usedforsecurity=False).hexdigest())


def _blocks(page: Outline) -> Iterator[str]:
    for index, shape in enumerate(page.shapes):
        if title := page.heading(index):
            yield f"== {title[1]} =="
        block = _SOURCES[kind(shape)](page.words(index), page.prose)
        yield block + _reference(page, index) if has_reference(shape) else block
        if added := page.added(index):
            yield _paragraph(added, page.prose)
    yield "== References ==\n<references />"


def _reference(page: Outline, index: int) -> str:
    return f"<ref>[{note_url(index)} {note_words(page.source(index), page.prose)}]</ref>"


def _paragraph(text: Bits, prose: Prose) -> str:
    first, topic, rest = paragraph_words(text, prose)
    return f"{_marked(first)} [[{topic}]]{_marked(rest)}"


def _bullets(text: Bits, prose: Prose) -> str:
    first, second = pair_words(text, prose)
    return f"* [[{first}]]\n* [[{second}]]"


def _figure(text: Bits, prose: Prose) -> str:
    topic, caption = figure_words(text, prose)
    return f"[[File:{topic}.jpg|thumb|{_marked(caption)}]]"


def _infobox(text: Bits, prose: Prose) -> str:
    name, value = pair_words(text, prose)
    return f"{{{{Infobox|name={name}|area={value}}}}}"


_SOURCES: Final[dict[Element, Callable[[Bits, Prose], str]]] = {
    paragraph: _paragraph,
    bullets: _bullets,
    figure: _figure,
    infobox: _infobox,
}


@cache
def _marked(sentence: str) -> str:
    """A sentence of the stock: what is bold or italic in HTML has a mark of its own, the rest is written alike."""
    for tag, mark in (("b", "'''"), ("i", "''")):
        sentence = sentence.replace(f"<{tag}>", mark).replace(f"</{tag}>", mark)
    return sentence
