"""What stands around the content of a page: Parsoid's head, body tag and end, with the revision's identity.

The parts come a tag or two at a time. MediaWiki writes them without a break; between them there may be one.
"""

from collections.abc import Iterator
from datetime import UTC
from html import escape
from typing import Final
from urllib.parse import quote

from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.prose import RIGHT_TO_LEFT
from mockapi.wiki.wiki import MAIN_PAGE, language_of, server_of

HTML_VERSION: Final = "2.8.0"
PARSOID_VERSION: Final = "0.20.8.0"
DOCTYPE: Final = "<!DOCTYPE html>"
END: Final = "</body></html>"

_CITE_STYLES: Final = ("ext.cite.parsoid.styles", "ext.cite.styles")
_STYLES: Final = ("mediawiki.skinning.content.parsoid", "mediawiki.skinning.interface", "site.styles")
_URL_SAFE: Final = "!~*'()/"


def title_url(title: str) -> str:
    """A title as Parsoid writes it into an absolute URL."""
    return quote(title.replace(" ", "_"), safe=_URL_SAFE)


def title_href(title: str) -> str:
    """A title as Parsoid writes it into a link relative to the base, escaped for an attribute."""
    return escape(title.replace(" ", "_").replace("%", "%25").replace("?", "%3F"), quote=False).replace('"', "&quot;")


def head(located: Located, sha1: str, *, cites: bool, server: str | None = None) -> Iterator[str]:
    """All from `<html>` to `<body>`; `sha1` (40 hex digits) is that of the source, `cites` whether there are
    references in it. Links lead to `server`, without one to the wiki's own domain.
    """
    page, revision = located.page, located.revision
    wiki = f"{server or server_of(page.domain)}/wiki/"
    redirect = f"{wiki}Special:Redirect/"
    title = page.title.replace("_", " ")
    language = language_of(page.domain)
    modified = revision.timestamp.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    yield (
        '<html prefix="dc: http://purl.org/dc/terms/ mw: http://mediawiki.org/rdf/" '
        f'about="{redirect}revision/{revision.rev_id}"><head prefix="mwr: {redirect}"><meta charset="utf-8"/>'
    )
    yield f'<meta property="mw:pageId" content="{page.page_id}"/>'
    yield f'<meta property="mw:pageNamespace" content="{page.namespace_id}"/>'
    yield f'<link rel="dc:replaces" resource="mwr:revision/{revision.parent_id}"/>'
    yield f'<meta property="mw:revisionSHA1" content="{sha1}"/>'
    yield f'<meta property="dc:modified" content="{modified}"/>'
    if _is_main_page(page):
        yield '<meta property="isMainPage" content="true"/>'
    yield f'<meta property="mw:htmlVersion" content="{HTML_VERSION}"/>'
    yield f'<meta property="mw:html:version" content="{HTML_VERSION}"/>'
    yield f'<link rel="dc:isVersionOf" href="{wiki}{title_url(page.title)}"/>'
    yield f'<base href="{wiki}"/><title>{escape(title, quote=False)}</title>'
    if cites:
        yield '<meta property="mw:generalModules" content="ext.cite.ux-enhancements"/>'
        yield f'<meta property="mw:moduleStyles" content="{"|".join(_CITE_STYLES)}"/>'
    styles = "%7C".join((*_CITE_STYLES, *_STYLES) if cites else _STYLES)
    yield (
        f'<link rel="stylesheet" href="/w/load.php?lang={language}&amp;modules={styles}'
        '&amp;only=styles&amp;skin=vector"/>'
    )
    yield f'<meta http-equiv="content-language" content="{language}"/>'
    yield '<meta http-equiv="vary" content="Accept"/></head>'
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    yield (
        f'<body id="mwAA" lang="{language}" class="mw-content-{direction} sitedir-{direction} {direction} '
        f'mw-body-content parsoid-body mediawiki mw-parser-output" dir="{direction}" '
        f'data-mw-parsoid-version="{PARSOID_VERSION}" data-mw-html-version="{HTML_VERSION}">'
    )


def _is_main_page(page: CatalogPage) -> bool:
    return page.namespace_id == 0 and page.title.replace("_", " ") == MAIN_PAGE
