"""An article as Parsoid would render it: a pure function of (seed, page, revision).

    key ─┬─ size (log-normal) ──> number of elements
         ├─ shapes: one number an element, the page's for ever
         └─ history(n) ──> last edit of each element ──> text

A line an element, so that diffs are made of lines as they are for real pages. Revision n differs from n - 1 in one to
three elements, sometimes one more, and in the head, which names revision, parent, SHA-1 and time.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from html import escape
from typing import Final
from urllib.parse import quote

from mockapi.draws import digest, log_normal, uniform
from mockapi.pages.elements import Bits, Place, has_reference, kind, note, paragraph, reference
from mockapi.pages.history import History, history
from mockapi.pages.language import language_of
from mockapi.pages.prose import RIGHT_TO_LEFT, Prose, prose
from mockapi.titles import Located

HTML_VERSION: Final = "2.8.0"
PARSOID_VERSION: Final = "0.20.8.0"

MEDIAN_BYTES: Final = 24 * 1024
P99_BYTES: Final = 160 * 1024
MAX_BYTES: Final = 400 * 1024

# Calibrated: the head and the end of a page, the markup of an element with its share of headings and references, how
# many sentences and topics are in it on average, and the room that added paragraphs need below MAX_BYTES.
_FRAME_BYTES: Final = 1_700
_MARKUP_BYTES: Final = 177
_SENTENCES_EACH: Final = 1.1
_TOPICS_EACH: Final = 3.9
_GROWTH: Final = 0.85
_FEWEST_ELEMENTS: Final = 4

_ELEMENTS_A_SECTION: Final = 6
_TITLE_SAFE: Final = ";@$!*(),/~:"


@dataclass(frozen=True, slots=True)
class _Page:
    """What all lines of a document share. `shapes` has one number an element."""

    located: Located
    key: bytes
    language: str
    prose: Prose
    href: str
    shapes: tuple[int, ...]

    def text(self, index: int, edit: int) -> Bits:
        return Bits(int.from_bytes(digest(self.key.hex(), "text", index, edit), "big"))


def render_article(seed: int, located: Located) -> bytes:
    """The document in UTF-8, at most MAX_BYTES; the same bytes in every process."""
    page = _page(seed, located)
    edits = history(page.key, located.revision.number, len(page.shapes))
    lines = [*_head(page), *_sections(page, edits), *_references(page), "</section></body></html>"]
    return "\n".join(lines).encode()


def title_href(title: str) -> str:
    """A title as MediaWiki writes it into a URL."""
    return quote(title.replace(" ", "_"), safe=_TITLE_SAFE)


def _page(seed: int, located: Located) -> _Page:
    page = located.page
    key = digest(seed, "article", page.wiki, page.page_id)
    language = language_of(page.domain)
    size = min(log_normal(uniform(key.hex(), "size"), MEDIAN_BYTES, P99_BYTES), MAX_BYTES * _GROWTH)
    stock = prose(language)
    mean = _MARKUP_BYTES + _SENTENCES_EACH * stock.sentence_bytes + _TOPICS_EACH * stock.topic_bytes
    elements = max(_FEWEST_ELEMENTS, round((size - _FRAME_BYTES) / mean))
    source = random.Random(key)
    shapes = tuple(int(source.random() * (1 << 24)) for _ in range(elements))
    return _Page(located, key, language, stock, title_href(page.title), shapes)


def _head(page: _Page) -> Iterator[str]:
    source, revision = page.located.page, page.located.revision
    wiki = f"https://{source.domain}/wiki/"
    redirect = f"{wiki}Special:Redirect/"
    sha1 = digest(page.key.hex(), "sha1", revision.rev_id, size=20).hex()
    modified = revision.timestamp.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    direction = "rtl" if page.language in RIGHT_TO_LEFT else "ltr"
    yield "<!DOCTYPE html>"
    yield (
        '<html prefix="dc: http://purl.org/dc/terms/ mw: http://mediawiki.org/rdf/" '
        f'about="{redirect}revision/{revision.rev_id}"><head prefix="mwr: {redirect}"><meta charset="utf-8"/>'
    )
    yield f'<meta property="mw:pageId" content="{source.page_id}"/>'
    yield f'<meta property="mw:pageNamespace" content="{source.namespace_id}"/>'
    yield f'<link rel="dc:replaces" resource="mwr:revision/{revision.parent_id}"/>'
    yield f'<meta property="mw:revisionSHA1" content="{sha1}"/>'
    yield f'<meta property="dc:modified" content="{modified}"/>'
    yield f'<meta property="mw:htmlVersion" content="{HTML_VERSION}"/>'
    yield f'<meta property="mw:html:version" content="{HTML_VERSION}"/>'
    yield f'<link rel="dc:isVersionOf" href="{wiki}{page.href}"/>'
    yield f'<base href="{wiki}"/><title>{escape(source.title.replace("_", " "), quote=False)}</title>'
    yield '<meta property="mw:moduleStyles" content="ext.cite.parsoid.styles|ext.cite.styles"/>'
    yield (
        f'<link rel="stylesheet" href="/w/load.php?lang={page.language}&amp;modules=mediawiki.skinning.content.parsoid'
        '%7Cmediawiki.skinning.interface%7Csite.styles&amp;only=styles&amp;skin=vector"/>'
    )
    yield f'<meta http-equiv="content-language" content="{page.language}"/>'
    yield '<meta http-equiv="vary" content="Accept"/></head>'
    yield (
        f'<body id="mwAA" lang="{page.language}" class="mw-content-{direction} sitedir-{direction} {direction} '
        f'mw-body-content parsoid-body mediawiki mw-parser-output" dir="{direction}" '
        f'data-mw-parsoid-version="{PARSOID_VERSION}" data-mw-html-version="{HTML_VERSION}">'
    )


def _sections(page: _Page, edits: History) -> Iterator[str]:
    yield '<section data-mw-section-id="0" id="mwAQ">'
    for index, shape in enumerate(page.shapes):
        if index and index % _ELEMENTS_A_SECTION == 0:
            number = index // _ELEMENTS_A_SECTION
            heading = f"{page.text(index, -1).of(page.prose.topics)} {number}"
            anchor = heading.replace(" ", "_")
            yield "</section>"
            yield f'<section data-mw-section-id="{number}" id="mwS{number}"><h2 id="{anchor}">{heading}</h2>'
        place = Place(index, page.href)
        line = kind(shape)(place, page.text(index, edits.touched.get(index, 0)), page.prose)
        yield line.removesuffix("</p>") + reference(place) + "</p>" if has_reference(shape) else line
        if index in edits.added:
            yield paragraph(Place(index, page.href, added=True), page.text(index, -edits.added[index] - 1), page.prose)
    yield "</section>"


def _references(page: _Page) -> Iterator[str]:
    number = -(-len(page.shapes) // _ELEMENTS_A_SECTION)
    yield f'<section data-mw-section-id="{number}" id="mwS{number}"><h2 id="References">References</h2>'
    yield (
        '<div class="mw-references-wrap" typeof="mw:Extension/references" about="#mwt0" '
        'data-mw=\'{"name":"references","attrs":{}}\' id="mwAg"><ol class="mw-references references">'
    )
    for index, shape in enumerate(page.shapes):
        if has_reference(shape):
            yield note(Place(index, page.href), page.text(index, 0), page.prose)
    yield "</ol></div>"
