"""The HTML of a revision whose source is given: wikitext and JSON in Parsoid's frame, code in a `<pre>` of its own.

MediaWiki writes no line breaks between the tags of the frame, and none at the end of a document.
"""

import hashlib
from typing import Final

from mockapi.wiki.located import Located
from mockapi.wiki.messages import system_message
from mockapi.wiki.pages.frame import DOCTYPE, END, head
from mockapi.wiki.pages.json_table import json_table
from mockapi.wiki.parsoid.render import render
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki

_CODE_CLASSES: Final = {"css": "mw-css", "javascript": "mw-js"}
_CITES: Final = 'typeof="mw:Extension/ref'


def render_given(located: Located, text: str, wiki: Wiki | None) -> bytes:
    """The page with the source `text`. Links are red where `wiki` has no such page; without a wiki all are blue."""
    server = None if wiki is None else wiki.server
    match located.page.content_model:
        case "wikitext":
            return _document(located, text, "\n".join(_content(located, text, wiki)), server)
        case "json":
            return _document(located, text, json_table(text), server)
        case model:
            return _code(text, _CODE_CLASSES.get(model))


def _content(located: Located, text: str, wiki: Wiki | None) -> list[str]:
    title = located.page.title
    if wiki is None:
        return render(text, title=title)

    def exists(target: Title) -> bool:
        return wiki.page(target) is not None or system_message(target) is not None

    return render(text, title=title, namespaces=wiki.namespaces, exists=exists)


def _document(located: Located, text: str, content: str, server: str | None) -> bytes:
    sha1 = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    tags = "".join(head(located, sha1, cites=_CITES in content, server=server))
    return f"{DOCTYPE}\n{tags}{content}{END}".encode()


def _code(text: str, code_class: str | None) -> bytes:
    classes = "mw-code" if code_class is None else f"mw-code {code_class}"
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<pre class="{classes}" dir="ltr">\n{escaped}\n</pre>\n'.encode()
