"""RESTBase as it was before the gateway took its paths over; the mock plays it when its state says so.

    /api/rest_v1/page/html/{title}[/{revision}] ── title as the wiki writes it? no: 301 ── redirect? 302 with the page

Its entity tags have two parts, its errors are `application/problem+json`. Read from its source, never recorded: what
differs from a real one would be in details such as the order of headers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote

from mockapi.api import status as statuses
from mockapi.api.endpoint import Context
from mockapi.api.gateway import RESTBASE_PATH, SET_BY_GATEWAY
from mockapi.api.rest.envelope import coding_of, json_text
from mockapi.api.rest.html_render import Render, html_body, render_id
from mockapi.api.rest.metadata import compatible_members
from mockapi.api.rest.parameters import parse_query
from mockapi.api.rest.path import segment
from mockapi.api.rest.redirects import target_of, written_target
from mockapi.api.rest.visibility import Visible, visible
from mockapi.plan import Plan, StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Body, Headers, Held, Reply, Streamed
from mockapi.server.request import Request
from mockapi.wiki.catalog import Located
from mockapi.wiki.namespaces import USER, USER_TALK
from mockapi.wiki.pages.coding import Coding, encoded, even
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World


def _sealed(status: int, own: Headers, body: Body, request_id: str) -> Reply:
    """An answer whose own headers are `own`; they win over those that are always set."""
    names = {name for name, _ in own}
    length = body.wire_bytes
    headers = (
        *own,
        *(header for header in SET_BY_GATEWAY if header[0] not in names),
        *(() if length is None else ((b"content-length", str(length).encode()),)),
        (b"server", b"restbase1042"),
        (b"x-request-id", request_id.encode("latin-1")),
    )
    return Reply(status, headers, body)


_TYPES: Final = "https://mediawiki.org/wiki/HyperSwitch/errors/"
_PROBLEM_HEADERS: Final[Headers] = (
    (b"content-type", b"application/problem+json"),
    (b"cache-control", b"private, max-age=0, s-maxage=0, must-revalidate"),
)


class RestbaseProblem(Exception):  # noqa: N818 - an answer to the client, no error of the mock
    """An error; `kind` is the end of its type."""

    def __init__(self, code: int, kind: str, title: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.kind = kind
        self.title = title
        self.detail = detail


def not_found(detail: str = "Page or revision not found.") -> RestbaseProblem:
    """There is no such page or revision."""
    return RestbaseProblem(404, "not_found", "Not found.", detail)


def denied(revision: object) -> RestbaseProblem:
    """403: the text of the revision is hidden."""
    text = f"Access is restricted for revision {revision}"
    return RestbaseProblem(403, "access_denied#revision", "Access to resource denied", text)


def problem_reply(problem: RestbaseProblem, request: Request, domain: str, request_id: str) -> Reply:
    """The answer that says `problem`; the service's own paths begin with the domain."""
    fields = {
        "type": _TYPES + problem.kind,
        "title": problem.title,
        "method": request.method.lower(),
        "detail": problem.detail,
        "uri": f"/{domain}/v1{request.raw_path.removeprefix('/api/rest_v1')}",
    }
    return _sealed(problem.code, _PROBLEM_HEADERS, Held(json_text(fields)), request_id)


_HEAD_TAG: Final = re.compile(rb"<head\b[^>]*>")
_HEAD_WITHIN_BYTES: Final = 4096


async def stored_body(world: "World", render: Render, plan: Plan, coding: Coding | None, tid: str) -> Body:
    """The document as it leaves; one without a head is as it is."""
    mark = f'<meta property="mw:TimeUuid" content="{tid}"/>'.encode()
    plain = await html_body(world, render, plan, None)
    parts = partial(_marked, plain, mark)
    if plain.held:
        data = b"".join(parts())
        return Held(data) if coding is None else Held(b"".join(encoded(coding, (data,))), len(data))
    if coding is None:
        return Streamed(parts, None, plain.decoded_bytes)
    return Streamed(lambda: encoded(coding, even(parts())), None, plain.decoded_bytes)


def _marked(plain: Body, mark: bytes) -> Iterator[bytes]:
    pieces = plain.pieces()
    first = next(pieces, b"")
    head = _HEAD_TAG.search(first, 0, _HEAD_WITHIN_BYTES)
    yield first if head is None else first[: head.end()] + mark + first[head.end() :]
    yield from pieces


_METHODS: Final = frozenset({"GET", "HEAD"})
_NOT_FOLLOWED: Final = frozenset({USER, USER_TALK})
_SOURCES: Final = (
    b"default-src 'none'; media-src *; img-src *; style-src http://*.wikipedia.org https://*.wikipedia.org "
    b"'unsafe-inline';frame-ancestors 'self'"
)


@dataclass(frozen=True, slots=True)
class Restbase:
    """A request to the service: `title` is None for what no page can be called, `located` what it is about."""

    request: Request
    kind: str
    text: str
    revision: str | None
    wiki: Wiki | None
    title: Title | InvalidTitle | None
    located: Located | None
    targets: tuple[Target, ...]
    key: str
    renders: bool

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for another path, and while the gateway has its paths."""
        match = RESTBASE_PATH.fullmatch(request.raw_path) if world.restbase == "legacy" else None
        if match is None:
            return None
        kind, text, revision = match[1], segment(match[2]), match[3]
        wiki = world.wikis.serving(request.host)
        title = None if wiki is None else _title(wiki, text)
        located = None if wiki is None else _located(wiki, title, revision)
        named = title.text if isinstance(title, Title) else text
        target = Target(wiki.name if wiki else None, named)
        if located is not None:
            page = located.page
            target = Target(page.wiki, page.title, page.page_id, located.revision.rev_id)
        key = f"restbase:{kind}:{named}" + (f"/{revision}" if revision else "")
        renders = located is not None and kind == "html" and request.method in _METHODS
        return cls(request, kind, text, revision, wiki, title, located, (target,), key, renders)

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """403 and 404 as a problem of the service's own; any other status as a proxy before it answers."""
        if status.body is None and status.code in {403, 404}:
            problem = not_found() if status.code == 404 else denied(self.revision or self.text)
            return statuses.with_retry_after(self._problem(problem, request_id), status)
        return statuses.reply(status, request_id)

    async def reply(self, context: Context) -> Reply:
        """The page, the way to it, or the error."""
        try:
            return await self._reply(context)
        except RestbaseProblem as problem:
            return self._problem(problem, context.request_id)

    async def _reply(self, context: Context) -> Reply:
        wiki, title = self.wiki, self.title
        if self.request.method not in _METHODS:
            raise RestbaseProblem(405, "method_not_allowed", "Method not allowed.", "Invalid HTTP method.")
        if isinstance(title, InvalidTitle):
            raise RestbaseProblem(400, "bad_request", "Bad request.", title.code)
        if self.revision is not None and not self.revision.isdecimal():
            text = "Invalid revision specified"
            raise RestbaseProblem(400, "bad_request#invalid_revision", "Bad request.", text)
        if wiki is None or title is None:
            raise not_found()
        if self.text != title.dbkey and not self._resolves:
            return self._moved(context, 301, title)
        seen = visible(self.located, context.plan)
        if seen is None:
            raise not_found()
        if wiki.title_of(seen.located.page) != title:
            raise not_found("Requested page does not exist.")
        if "text" in seen.hidden:
            raise denied(seen.located.revision.rev_id)
        target = target_of(wiki, seen) if self._follows(title) else None
        if target is not None and self._resolves:
            page = wiki.page(target)
            seen = visible(None if page is None else wiki.latest(page), context.plan) or seen
            target = None
        return await self._page(context, wiki, seen, target)

    async def _page(self, context: Context, wiki: Wiki, seen: Visible, target: Title | None) -> Reply:
        if self.kind == "title":
            redirect = written_target(seen.located) is not None
            members = compatible_members(wiki, context.world.seed, seen, redirect=redirect)
            members["items"][0]["tid"] = _tid(context, seen)
            own: Headers = ((b"content-type", b"application/json"), (b"etag", _etag(context, seen, "")))
            return _sealed(200, own, Held(json_text(members)), context.request_id)
        stash = _truthy(parse_query(self.request.query).get("stash", "false"))
        coding = coding_of(context)
        render = Render(context.world.seed, seen, "html")
        body = await stored_body(context.world, render, context.plan, coding, _tid(context, seen))
        title = wiki.title_of(seen.located.page)
        at = f"{wiki.server}/api/rest_v1/page/html/{quote(title.dbkey, safe='')}"
        own = (
            (b"content-type", render.content_type),
            (b"content-language", wiki.language.encode()),
            (b"vary", b"Accept"),
            (b"etag", _etag(context, seen, "/stash" if stash else "")),
            (b"content-location", (f"{at}/{self.revision}" if self.revision else at).encode()),
            (b"cache-control", b"no-cache" if stash else b"s-maxage=60, max-age=0, must-revalidate"),
            (b"x-restbase-cache", b"nocache" if stash else b"hit"),
            (b"content-security-policy", _SOURCES),
            *(() if coding is None else ((b"content-encoding", coding.encode()),)),
            *(() if target is None else ((b"location", self._place(target).encode()),)),
        )
        return _sealed(200 if target is None else 302, own, body, context.request_id)

    @property
    def _resolves(self) -> bool:
        """A script of another site cannot follow: it gets the page at once."""
        origin = self.request.headers.get("origin")
        return origin is not None and origin.partition("://")[2] != self.request.host

    def _follows(self, title: Title) -> bool:
        wanted = parse_query(self.request.query).get("redirect", "true")
        uncached = "no-cache" in self.request.headers.get("cache-control", "")
        return _truthy(wanted) and not uncached and title.namespace_id not in _NOT_FOLLOWED

    def _moved(self, context: Context, status: int, title: Title) -> Reply:
        revision = f"/{self.revision}" if self.revision else ""
        place = self._place(title).removesuffix(self._query) + revision + self._query
        return _sealed(status, ((b"location", place.encode()),), Held(b""), context.request_id)

    def _place(self, title: Title) -> str:
        """Relative to the request's own place."""
        return f"{'../' if self.revision else ''}{quote(title.dbkey, safe='')}{self._query}"

    @property
    def _query(self) -> str:
        return f"?{self.request.query}" if self.request.query else ""

    def _problem(self, problem: RestbaseProblem, request_id: str) -> Reply:
        domain = self.wiki.domain if self.wiki else self.request.host
        return problem_reply(problem, self.request, domain, request_id)


def _title(wiki: Wiki, text: str) -> Title | InvalidTitle:
    try:
        return wiki.title(text)
    except InvalidTitle as invalid:
        return invalid


def _located(wiki: Wiki, title: Title | InvalidTitle | None, revision: str | None) -> Located | None:
    if revision is not None:
        return wiki.revision(int(revision)) if revision.isdecimal() else None
    page = wiki.page(title) if isinstance(title, Title) else None
    return None if page is None else wiki.latest(page)


def _tid(context: Context, seen: Visible) -> str:
    return render_id(context.world.seed, seen.located.page.wiki, seen.located.revision.rev_id)


def _etag(context: Context, seen: Visible, suffix: str) -> bytes:
    return f'"{seen.located.revision.rev_id}/{_tid(context, seen)}{suffix}"'.encode()


def _truthy(text: str) -> bool:
    return text.lower() not in {"false", "no", "0"}
