"""The HTML of a revision whose source is given: wikitext and JSON in Parsoid's frame, code in a `<pre>` of its own.

MediaWiki writes no line breaks between the tags of the frame, and none at the end of a document.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.elements import element_id
from mockapi.wiki.pages.frame import DOCTYPE, END, head
from mockapi.wiki.parsoid.render import render
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki, system_message

_CODE_CLASSES: Final = {"css": "mw-css", "javascript": "mw-js"}
_CITES: Final = 'typeof="mw:Extension/ref'


def render_source(located: Located, text: str, wiki: Wiki | None) -> bytes:
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


_FIRST_ID: Final = 1  # 0 is the body's
_NO_JSON: Final = """<table typeof="mw:Error" data-mw='{"errors":[{"key":"bad-json"}]}' id="mwAQ"></table>"""

Row = tuple[str | None, object]


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def json_table(text: str) -> str:
    """The content of the document's body; an error in its place for what is no JSON, or nested too deep.

    An object is a table with a row for each key, an array one for each item. An array at the top is boxed in another
    one, so that it can be told from a single value.
    """
    try:
        value: object = json.loads(text, parse_int=_Number, parse_float=_Number)
        return "".join(_Tables().root(value))
    except (ValueError, RecursionError):
        return _NO_JSON


class _Tables:
    """Gives the elements their ids as they are written."""

    def __init__(self) -> None:
        self._ids = map(element_id, count(_FIRST_ID))

    def root(self, value: object) -> Iterator[str]:
        match value:
            case dict():
                yield from self._table("object", value.items())
            case list():
                yield from self._table("array", [(None, value)])
            case _:
                yield self._open("table", "mw-json mw-json-single-value") + self._open("tbody") + self._open("tr")
                yield self._open("td", _class_of(value)) + _text_of(value)
                yield "</td></tr></tbody></table>"

    def _table(self, kind: str, rows: Iterable[Row]) -> Iterator[str]:
        yield self._open("table", f"mw-json mw-json-{kind}") + self._open("tbody")
        empty = True
        for key, value in rows:
            empty = False
            yield self._open("tr")
            if key is not None:
                yield f"{self._open('th')}{_escape(key)}</th>"
            yield from self._cell(value)
            yield "</tr>"
        if empty:
            yield f"{self._open('tr')}{self._open('td', 'mw-json-empty')}</td></tr>"
        yield "</tbody></table>"

    def _cell(self, value: object) -> Iterator[str]:
        match value:
            case dict():
                yield self._open("td")
                yield from self._table("object", value.items())
            case list():
                yield self._open("td")
                yield from self._table("array", ((None, item) for item in value))
            case _:
                yield self._open("td", f"value {_class_of(value)}") + _text_of(value)
        yield "</td>"

    def _open(self, tag: str, classes: str | None = None) -> str:
        named = "" if classes is None else f' class="{classes}"'
        return f'<{tag}{named} id="{next(self._ids)}">'


def _class_of(value: object) -> str:
    match value:
        case None:
            return "mw-json-null"
        case bool():
            return "mw-json-boolean"
        case _Number() | float():
            return "mw-json-number"
        case _:
            return "mw-json-string"


def _text_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return _escape(str(value))


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
