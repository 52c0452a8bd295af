"""Comments of edits as HTML: links, and the section that an edit was in."""

import html
import re
from typing import Final

from mockapi.api.action.query.addresses import article_path, edit_path
from mockapi.wiki.catalog import CatalogPage
from mockapi.wiki.title import InvalidTitle
from mockapi.wiki.wiki import Wiki

_SECTION: Final = re.compile(r"/\*\s*(.*?)\s*\*/(.*)", re.DOTALL)
_LINK: Final = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")


def comment_html(wiki: Wiki, page: CatalogPage, comment: str) -> str:
    """Escaped, with `[[…]]` as links, and `/* section */` as a link into `page`."""
    found = _SECTION.match(comment)
    if found is None:
        return _links(wiki, comment)
    title, section, rest = wiki.title_of(page), _escaped(found[1]), _links(wiki, found[2])
    address = html.escape(article_path(title)) + "#" + section.replace(" ", "_")
    link = f'<a href="{address}" title="{_escaped(title.text)}">→<bdi dir="ltr">{section}</bdi></a>'
    return f'<span class="autocomment">{link}{": " if rest.strip() else ""}</span>{rest}'


def _links(wiki: Wiki, text: str) -> str:
    pieces, end = [], 0
    for link in _LINK.finditer(text):
        pieces += [_escaped(text[end : link.start()]), _link(wiki, link)]
        end = link.end()
    return "".join([*pieces, _escaped(text[end:])])


def _link(wiki: Wiki, link: re.Match[str]) -> str:
    try:
        title = wiki.title(link[1])
    except InvalidTitle:
        return _escaped(link[0])
    shown, name = _escaped(link[2] or link[1]), _escaped(title.text)
    if wiki.page(title) is not None or not title.can_exist:
        return f'<a href="{html.escape(article_path(title))}" title="{name}">{shown}</a>'
    address = html.escape(edit_path(title) + "&redlink=1")
    return f'<a href="{address}" class="new" title="{name} (page does not exist)">{shown}</a>'


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace('"', "&quot;")
