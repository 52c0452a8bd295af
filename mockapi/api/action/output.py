"""The answer on the wire: JSON (with a callback too), nothing for `format=none`, gzip.

Who asks for another format gets the page that MediaWiki has for people who look at the API with a browser, with the
JSON in it.
"""

import html
import re
from typing import Final

from mockapi.api.action.answer_headers import (
    LONG_AGO,
    NO_SNIFF,
    PRIVATE,
    Caching,
    cache_headers,
    cookie_headers,
    end_of_head,
    origin_headers,
    write_cookie,
)
from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError, ErrorMessage, bad_value
from mockapi.api.action.form import Form
from mockapi.api.action.result import Warned, old_style
from mockapi.api.action.tree import Content, Tree, to_json
from mockapi.server.reply import Headers, Held, Reply
from mockapi.wiki.pages.coding import encoded
from mockapi.wiki.wiki import Wiki


def html_page(wiki: Wiki, heading: str, *, items: tuple[str, ...] = (), data: bytes = b"") -> bytes:
    """A html_page with a list of `items` and a text in JSON, if there are."""
    shown = "".join(f"<li>{html.escape(item)}</li>\n" for item in items)
    listed = f"<ul>\n{shown}</ul>\n" if items else ""
    text = f'<pre class="api-pretty-content">{html.escape(data.decode())}</pre>\n' if data else ""
    return (
        f'<!DOCTYPE html>\n<html class="client-nojs" lang="{wiki.language}" dir="ltr">\n<head>\n'
        '<meta charset="UTF-8">\n'
        f"<title>{html.escape(f'{heading} - {wiki.sitename}')}</title>\n</head>\n"
        f"<body>\n<h1>{html.escape(heading)}</h1>\n{listed}{text}</body>\n</html>"
    ).encode()


VERSIONS: Final = {"1": 1, "2": 2, "latest": 2}
DEFAULT_VERSION: Final = "1"

_JSON: Final = b"application/json; charset=utf-8"
_JAVASCRIPT: Final = b"text/javascript; charset=utf-8"
_PLAIN: Final = b"text/plain; charset=utf-8"
_HTML: Final = b"text/html; charset=UTF-8"
_FILE_NAMES: Final = {
    _JSON: b"api-result.json",
    _JAVASCRIPT: b"api-result.js",
    _PLAIN: b"api-result.txt",
    _HTML: b"api-result.html",
}
_NOT_IN_CALLBACKS: Final = re.compile(r"""[^]\[.'"_A-Za-z0-9]""")


def check_version(form: Form) -> None:
    """Raises ApiError for a formatversion that there is not."""
    wanted = form.values.get("formatversion", DEFAULT_VERSION)
    if wanted not in VERSIONS:
        raise bad_value("formatversion", wanted)


def to_reply(
    call: Call, request_id: str, *, caching: Caching, status: int = 200, error: str = "", extra: Headers = ()
) -> Reply:
    """The call's result. `error` is the code of one that is an error; `extra` headers go out before the rest."""
    content_type, data = _document(call)
    wire, encoding = packed(call, data)
    about_error: Headers = ((b"mediawiki-api-error", error.encode("latin-1", "replace")),) if error else ()
    headers = (
        NO_SNIFF,
        *cookie_headers(call),
        *origin_headers(call),
        *extra,
        *about_error,
        *_about_document(call, content_type),
        *write_cookie(call),
        *_kept(call, caching, encoding, content_type, is_error=bool(error)),
        *end_of_head(request_id, len(wire)),
    )
    return Reply(status, headers, Held(wire, len(data)))


def refusal(wiki: Wiki, form: Form, error: ApiError, status: int, request_id: str) -> Reply:
    """An error that is the answer before anything of the request was done."""
    version = VERSIONS.get(form.values.get("formatversion", DEFAULT_VERSION), 1)
    data = to_json(members_of_error(wiki, form, error), version=version, ascii_only=version == 1)
    headers = (
        NO_SNIFF,
        (b"mediawiki-api-error", error.code.encode()),
        (b"content-type", _JSON),
        (b"x-frame-options", b"DENY"),
        (b"content-disposition", b"inline; filename=" + _FILE_NAMES[_JSON]),
        PRIVATE,
        (b"vary", b"Accept-Encoding"),
        *end_of_head(request_id, len(data)),
    )
    return Reply.of(status, headers, data)


def packed(call: Call, data: bytes) -> tuple[bytes, Headers]:
    """The bytes on the wire, and the header that says how to read them: gzip for who takes it."""
    if not call.request.accepts("gzip"):
        return data, ()
    return b"".join(encoded("gzip", [data])), ((b"content-encoding", b"gzip"),)


def _document(call: Call) -> tuple[bytes, bytes]:
    values = call.form.values
    version = VERSIONS.get(values.get("formatversion", DEFAULT_VERSION), 1)
    # Version 1 is all ASCII unless it is asked not to be, version 2 the other way round.
    ascii_only = "ascii" in values if version != 1 else "utf8" not in values
    tree = call.result.tree(lambda warned: warnings(call.form, warned))
    data = to_json(tree, version=version, ascii_only=ascii_only)
    match values.get("format", "jsonfm"):
        case "json" if "callback" in values:
            callback = _NOT_IN_CALLBACKS.sub("", values["callback"])
            return _JAVASCRIPT, b"/**/" + callback.encode() + b"(" + data + b")"
        case "json":
            return _JSON, data
        case "none":
            return _PLAIN, b""
        case _:
            return _HTML, html_page(call.wiki, "MediaWiki API result", data=data)


def _about_document(call: Call, content_type: bytes) -> Headers:
    about = ((b"x-frame-options", b"DENY"), (b"content-disposition", b"inline; filename=" + _FILE_NAMES[content_type]))
    if content_type != _HTML:
        return ((b"content-type", content_type), *about)
    return (*about, (b"content-language", call.wiki.language.encode()), (b"content-type", content_type))


def _kept(call: Call, caching: Caching, encoding: Headers, content_type: bytes, *, is_error: bool) -> Headers:
    if content_type != _HTML:
        return cache_headers(call, caching, encoding, is_error=is_error)
    # The page may hold secrets of the client, so no cache may keep it.
    if is_error or call.cache == "private":
        return ((b"vary", b"Accept-Encoding, Cookie"), LONG_AGO, PRIVATE, *encoding)
    return (LONG_AGO, (b"vary", b"Accept-Encoding, Treat-as-Untrusted, Cookie"), PRIVATE, *encoding)


_MODERN: Final = frozenset({"plaintext", "wikitext", "html", "raw", "none"})


def error_format(form: Form) -> str:
    """The form that the client wants; `bc` for one that there is not."""
    wanted = form.values.get("errorformat", "bc")
    return wanted if wanted in _MODERN else "bc"


def members_of_error(wiki: Wiki, form: Form, error: ApiError) -> dict[str, Tree]:
    """What an answer that is an error has in place of a result."""
    style = error_format(form)
    reference = Content(
        f"See {wiki.server}/w/api.php for API usage. Subscribe to the mediawiki-api-announce mailing list at "
        "&lt;https://lists.wikimedia.org/postorius/lists/mediawiki-api-announce.lists.wikimedia.org/&gt; "
        "for notice of API deprecations and breaking changes."
    )
    if style == "bc":
        return {"error": {"code": error.code, "info": error.english, **error.data, "docref": reference}}
    return {
        "errors": [
            _modern(style, Warned(error.module or "main", error.code, error.english, error.data), error.message)
        ],
        "docref": reference,
    }


def warnings(form: Form, warned: list[Warned]) -> Tree:
    """In the style of `errorformat`: by module for `bc`, else a list."""
    style = error_format(form)
    return old_style(warned) if style == "bc" else [_modern(style, warning) for warning in warned]


def _modern(style: str, warning: Warned, message: ErrorMessage | None = None) -> Tree:
    item: dict[str, Tree] = {"code": warning.code}
    match style:
        case "raw":
            shown = message or ErrorMessage(f"apiwarn-{warning.code}")
            item |= {"key": shown.key, "params": [{"plaintext": param} for param in shown.params]}
        case "html":
            item["html"] = Content(html.escape(warning.english, quote=False))
        case "plaintext" | "wikitext":
            item["text"] = Content(warning.english)
    if warning.data:
        item["data"] = warning.data
    return {**item, "module": warning.module}
