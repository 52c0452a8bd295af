"""An article as Parsoid would render it: its outline in HTML.

A line an element, so that diffs are made of lines as they are for real pages. Besides the elements that an edit
touched, the head differs, which names revision, parent, SHA-1 and time.
"""

from collections.abc import Iterator

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article_source import measure
from mockapi.wiki.pages.elements import Place, has_reference, kind, note, paragraph, reference
from mockapi.wiki.pages.frame import DOCTYPE, END, head, title_href
from mockapi.wiki.pages.outline import ArticleId, Outline, outline


def render_article(seed: int, located: Located, *, server: str | None = None) -> bytes:
    """The document in UTF-8, at most `outline.MAX_BYTES`; the same bytes in every process. Its links lead to `server`,
    without one to the wiki's own domain.
    """
    article = ArticleId.of(seed, located)
    page = outline(article)
    href = title_href(located.page.title)
    lines = [
        DOCTYPE,
        *head(located, measure(article).sha1, cites=True, server=server),
        *_sections(page, href),
        *_references(page, href),
        f"</section>{END}",
    ]
    return "\n".join(lines).encode()


def _sections(page: Outline, href: str) -> Iterator[str]:
    yield '<section data-mw-section-id="0" id="mwAQ">'
    for index, shape in enumerate(page.shapes):
        if title := page.heading(index):
            number, heading = title
            anchor = heading.replace(" ", "_")
            yield "</section>"
            yield f'<section data-mw-section-id="{number}" id="mwS{number}"><h2 id="{anchor}">{heading}</h2>'
        place = Place(index, href)
        line = kind(shape)(place, page.words(index), page.prose)
        yield line.removesuffix("</p>") + reference(place) + "</p>" if has_reference(shape) else line
        if added := page.added(index):
            yield paragraph(Place(index, href, added=True), added, page.prose)
    yield "</section>"


def _references(page: Outline, href: str) -> Iterator[str]:
    number = page.sections
    yield f'<section data-mw-section-id="{number}" id="mwS{number}"><h2 id="References">References</h2>'
    yield (
        '<div class="mw-references-wrap" typeof="mw:Extension/references" about="#mwt0" '
        'data-mw=\'{"name":"references","attrs":{}}\' id="mwAg"><ol class="mw-references references">'
    )
    for index, shape in enumerate(page.shapes):
        if has_reference(shape):
            yield note(Place(index, href), page.source(index), page.prose)
    yield "</ol></div>"
