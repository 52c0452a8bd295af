"""Answers that are given before, or in place of, an action."""

from http import HTTPStatus
from typing import Final

from mockapi.api.action.answer_headers import LONG_AGO, NO_SNIFF, PRIVATE, end_of_head, id_header, origin_headers
from mockapi.api.action.call import Call
from mockapi.api.action.form import Form
from mockapi.api.action.output import html_page, packed
from mockapi.server.reply import Headers, Held, Reply
from mockapi.server.request import Request
from mockapi.wiki.wiki import Wiki

_PHP_HTML: Final = (b"content-type", b"text/html; charset=UTF-8")
_VARY: Final = (b"vary", b"Accept-Encoding")


def early(request: Request, form: Form, wiki: Wiki | None, request_id: str, path: str) -> Reply | None:
    """The answer to a request that does not get as far as its action; None for one that does. `path` is the API's."""
    if wiki is None:
        return web_server(404)
    if request.path != path:
        return _with_path_info(request, wiki, request_id, path)
    origin = form.values.get("origin", "*")
    if origin != "*" and origin not in request.headers.get("origin", "").split():
        headers = (NO_SNIFF, (b"cache-control", b"no-cache"), _VARY, _PHP_HTML, id_header(request_id))
        return Reply.of(403, headers, b"'origin' parameter does not match Origin header\n")
    if request.method == "OPTIONS":
        return Reply.of(200, (NO_SNIFF, _PHP_HTML, id_header(request_id)), b"")
    return None


def not_modified(request: Request, request_id: str) -> Reply | None:
    """304 for a GET with `If-None-Match: *`: answers of the API always exist."""
    if request.method not in {"GET", "HEAD"} or request.headers.get("if-none-match", "").strip() != "*":
        return None
    return Reply.of(304, (NO_SNIFF, _PHP_HTML, PRIVATE, id_header(request_id)), b"")


def help_page(call: Call, actions: tuple[str, ...], request_id: str) -> Reply:
    """HTML that lists `actions`: what MediaWiki answers where no action is named."""
    data = html_page(call.wiki, "MediaWiki API help", items=tuple(f"action={name}" for name in sorted(actions)))
    wire, encoding = packed(call, data)
    headers = (
        NO_SNIFF,
        *origin_headers(call),
        (b"content-language", call.wiki.language.encode()),
        (b"vary", b"Accept-Encoding, Cookie"),
        LONG_AGO,
        (b"content-type", b"text/html; charset=utf-8"),
        (b"x-frame-options", b"DENY"),
        (b"content-disposition", b"inline; filename=api-help.html"),
        PRIVATE,
        *encoding,
        *end_of_head(request_id, len(wire)),
    )
    return Reply(200, headers, Held(wire, len(data)))


def web_server(code: int) -> Reply:
    """HTML in the words of the web server before MediaWiki, without any header of MediaWiki's."""
    phrase = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else "Error"
    body = f"<!DOCTYPE html>\n<title>{code} {phrase}</title>\n<h1>{phrase}</h1>\n".encode()
    headers: Headers = (
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    )
    return Reply.of(code, headers, body)


def _with_path_info(request: Request, wiki: Wiki, request_id: str, path: str) -> Reply:
    query = f"?{request.query}" if request.query else ""
    location = f"{wiki.server}{path}{query}".encode("latin-1", "replace")
    text = (
        b'This endpoint does not support "path info", i.e. extra text between "api.php" and the "?". '
        b"Remove any such text and try again."
    )
    return Reply.of(301, (NO_SNIFF, (b"location", location), _VARY, _PHP_HTML, id_header(request_id)), text)
