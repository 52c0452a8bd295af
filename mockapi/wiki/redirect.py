"""Redirects: pages whose source says that another page is meant."""

import re
from typing import Final
from urllib.parse import quote, unquote

from mockapi.wiki.namespaces import CATEGORY, FILE, STANDARD
from mockapi.wiki.title import InvalidTitle, Title, parse_title

REDIRECT: Final = re.compile(r"\s*#REDIRECT\s*:?\s*\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]", re.IGNORECASE)

_IN_CODE: Final = {
    "css": re.compile(r"/\* #REDIRECT \*/@import url\([^?]*[?]title=([^&]+)&"),
    "javascript": re.compile(r'/\* #REDIRECT \*/mw\.loader\.load\("[^?]*[?]title=([^&]+)&'),
}
_TITLE_SAFE: Final = ";@$!*(),/~:"


def redirect_target(text: str, model: str = "wikitext") -> str | None:
    """Where `text` leads if it makes its page a redirect; a link to what no page could be called makes none."""
    match = REDIRECT.match(text) if model == "wikitext" else model in _IN_CODE and _IN_CODE[model].match(text)
    if not match:
        return None
    target = match[1] if model == "wikitext" else unquote(match[1])
    try:
        parse_title(target, STANDARD)
    except InvalidTitle:
        return None
    return target.strip()


def redirect_to(target: Title, model: str, server: str) -> str | None:
    """The source of a page that leads to `target`; None for a content model that cannot say so."""
    if model == "wikitext":
        colon = ":" if target.namespace_id in {FILE, CATEGORY} else ""
        return f"#REDIRECT [[{colon}{target.text}]]"
    address = f"{server}/w/index.php?title={quote(target.dbkey, safe=_TITLE_SAFE)}&action=raw&ctype=text/{model}"
    return {
        "css": f"/* #REDIRECT */@import url({address});",
        "javascript": f'/* #REDIRECT */mw.loader.load("{address}");',
    }.get(model)
