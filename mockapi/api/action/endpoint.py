"""`/w/api.php` as one request asks for it."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Self

from mockapi.api import status as statuses
from mockapi.api.action.answer_headers import (
    LONG_AGO,
    NO_SNIFF,
    PRIVATE,
    Caching,
    end_of_head,
    id_header,
    origin_headers,
)
from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError, uncaught
from mockapi.api.action.form import Form, read_form
from mockapi.api.action.main import play, requested
from mockapi.api.action.output import check_version, html_page, members_of_error, packed, refusal, to_reply
from mockapi.api.action.registry import ACTIONS
from mockapi.api.action.registry import HELP as HELP
from mockapi.api.action.targets import subjects
from mockapi.api.endpoint import Context
from mockapi.draws import digest
from mockapi.faults.status import NO_CONTENT
from mockapi.plan import NOTHING, StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Headers, Held, Reply
from mockapi.server.request import Request
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World

PATH: Final = "/w/api.php"

_NOT_PART_OF_THE_KEY: Final = frozenset(
    {"token", "requestid", "curtimestamp", "origin", "continue", "lgtoken", "logintoken", "createtoken"}
    | {"password", "retype", "lgpassword"}
)
_LONGEST_IN_KEY: Final = 200
_FROM_A_PROXY: Final = frozenset({NO_CONTENT, 429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class ActionApi:
    """A request to the API of `wiki`, None for a host that is no wiki's."""

    wiki: Wiki | None
    form: Form
    targets: tuple[Target, ...]
    key: str
    renders: bool = False

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for a path that is not the API's."""
        if request.path != PATH and not request.path.startswith(PATH + "/"):
            return None
        wiki = world.wikis.serving(request.host)
        form = read_form(request)
        return cls(wiki, form, subjects(wiki, form), key_of(form))

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """As the part says it that gives such an answer: a proxy, the API, or the web server before it."""
        if status.code in _FROM_A_PROXY or status.body is not None:
            return statuses.reply(status, request_id)
        answer = self._refusal(status.code, request_id)
        return statuses.with_retry_after(answer, status)

    async def reply(self, context: Context) -> Reply:
        """Nearly always status 200: an error is a member of the body."""
        request, request_id = context.request, context.request_id
        answer = answer_early(request, self.form, self.wiki, request_id, PATH) or not_modified(request, request_id)
        if answer is not None or self.wiki is None:
            return answer or web_server(404)
        call = self._call(context, self.wiki)
        key = _key_to_keep(call)
        if key is None:
            return await _played(call, request_id)
        kept = context.world.queries.get(key)
        if kept is None:
            kept = await _played(call, request_id)
            if key == _key_to_keep(call):
                context.world.queries.put(key, kept, kept.body.decoded_bytes)
        return replace(kept, headers=(*kept.headers[:-1], id_header(request_id)))

    def _call(self, context: Context, wiki: Wiki) -> Call:
        request, values = context.request, self.form.values
        untrusted = "callback" in values or values.get("origin") == "*" or "treat-as-untrusted" in request.headers
        session = None
        if not untrusted:
            cookie = request.cookies.get(f"{wiki.name}_session")
            session = context.world.accounts(wiki).session(cookie)
        return Call(
            world=context.world,
            wiki=wiki,
            request=request,
            request_id=context.request_id,
            form=self.form,
            plan=context.plan,
            plan_of=context.plan_of,
            untrusted=untrusted,
            session=session,
        )

    def _refusal(self, code: int, request_id: str) -> Reply:
        match code:
            case 401 | 403:
                error = ApiError("readapidenied", "You need read permission to use this module.")
            case 413:
                error = ApiError("http-contenttoolarge", "HTTP Request Content too large. Maximum length: 12 MB.")
            case 500:
                error = uncaught("RuntimeException", request_id)
            case _:
                return web_server(code)
        return web_server(code) if self.wiki is None else refusal(self.wiki, self.form, error, code, request_id)


_OF_PAGES_ALONE: Final = frozenset(
    {"action", "format", "formatversion", "utf8", "ascii", "titles", "pageids", "revids", "redirects", "prop"}
    | {"rvprop", "rvslots", "rvsection", "inprop"}
)


def _key_to_keep(call: Call) -> Hashable | None:
    """All that the answer depends on besides the request's id: what is asked, and how often the wiki was changed. None
    for an answer that depends on more: on time, a session, or rules, which may hide revisions.
    """
    form, request = call.form, call.request
    if (
        call.world.rules
        or call.plan is not NOTHING
        or call.untrusted
        or call.session is not None
        or request.method not in {"GET", "HEAD"}
    ):
        return None
    values = form.values
    if values.get("action") != "query" or form.arrays or form.mended or not values.keys() <= _OF_PAGES_ALONE:
        return None
    return call.wiki.name, call.wiki.changes, request.accepts("gzip"), *values.items()


async def _played(call: Call, request_id: str) -> Reply:
    try:
        action, main = await play(call)
        check_version(call.form)
    except ApiError as error:
        return _error(call, error, request_id)
    if action.name == HELP:
        return help_page(call, tuple(ACTIONS), request_id)
    caching = Caching() if action.writes else Caching.of(main)
    return to_reply(call, request_id, caching=caching)


def _error(call: Call, error: ApiError, request_id: str) -> Reply:
    result = call.result
    result.clear()
    (first, about), *others = members_of_error(call.wiki, call.form, error).items()
    result.add_on_top(first, about)
    for name, value in (*others, *requested(call).items()):
        result.add(name, value)
    try:
        check_version(call.form)
    except ApiError as worse:
        result.warn("main", "errorprinterfailed", "Error printer failed. Will retry without params.")
        result.warn("json", worse.code, worse.english)
    caching = Caching()
    reply = to_reply(call, request_id, caching=caching, status=error.status, error=error.code, extra=error.headers)
    return replace(reply, by_rule=error.by_rule)


def key_of(form: Form) -> str:
    """What is asked, in an order of its own and without what differs from one request to the next."""
    kept = sorted((name, value) for name, value in form.values.items() if name not in _NOT_PART_OF_THE_KEY)
    return "&".join(f"{name}={value if len(value) <= _LONGEST_IN_KEY else digest(value).hex()}" for name, value in kept)


_PHP_HTML: Final = (b"content-type", b"text/html; charset=UTF-8")
_VARY: Final = (b"vary", b"Accept-Encoding")


def answer_early(request: Request, form: Form, wiki: Wiki | None, request_id: str, path: str) -> Reply | None:
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
    headers: Headers = ((b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode()))
    return Reply.of(code, headers, body)


def _with_path_info(request: Request, wiki: Wiki, request_id: str, path: str) -> Reply:
    query = f"?{request.query}" if request.query else ""
    location = f"{wiki.server}{path}{query}".encode("latin-1", "replace")
    text = (
        b'This endpoint does not support "path info", i.e. extra text between "api.php" and the "?". '
        b"Remove any such text and try again."
    )
    return Reply.of(301, (NO_SNIFF, (b"location", location), _VARY, _PHP_HTML, id_header(request_id)), text)
