"""Where the REST API of a wiki is, and how URLs below it are taken apart.

A path is matched as it was sent and only then decoded: `%2F` is part of a title, `/` ends it.
"""

import re
import unicodedata
from typing import Final, Literal
from urllib.parse import quote, unquote

from mockapi.server.request import Request

REST_ROOT: Final = "/w/rest.php"

Module = Literal["v1", "content/v1"]
Form = Literal["source", "bare", "html", "with_html"]

RENDERED: Final = frozenset({"html", "with_html"})
"""The forms that carry HTML."""

READING: Final = ("HEAD", "GET")
"""The methods that read, in the order in which MediaWiki lists them."""

_MODULE: Final = "/content/v1"
_UNREADABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def relative(raw_path: str) -> str | None:
    """What follows the REST root in a path; None for a path elsewhere."""
    inside = raw_path == REST_ROOT or raw_path.startswith(REST_ROOT + "/")
    return raw_path[len(REST_ROOT) :] if inside else None


def below_module(relative_path: str) -> str:
    """The path that MediaWiki names when no route answers it: without the module if that has one of its own."""
    return relative_path[len(_MODULE) :] if relative_path.startswith(_MODULE + "/") else relative_path


def segment(raw: str) -> str:
    """A path segment decoded; what is no UTF-8, and control characters, become U+FFFD."""
    if raw.isascii() and raw.isalnum():
        return raw
    text = unquote(raw, errors="replace")
    return _UNREADABLE.sub("\ufffd", text) if text.isascii() else clean(text)


def clean(text: str) -> str:
    """Text of a URL in the normal form (NFC) that MediaWiki compares and shows."""
    return unicodedata.normalize("NFC", _UNREADABLE.sub("\ufffd", text))


def page_path(module: Module, title: str, form: Form) -> str:
    """The path, from the root of the host, of a page; `title` is decoded."""
    suffix = "" if form == "source" else f"/{form}"
    return f"{REST_ROOT}/{module}/page/{quote(title, safe='')}{suffix}"


def revision_path(module: Module, rev_id: int, form: Form) -> str:
    """The path, from the root of the host, of a revision."""
    suffix = "" if form == "source" else f"/{form}"
    return f"{REST_ROOT}/{module}/revision/{rev_id}{suffix}"


def uri(request: Request) -> str:
    """Path and query as sent."""
    return f"{request.raw_path}?{request.query}" if request.query else request.raw_path
