"""Wikimedia's gateway: public paths that it rewrites to those of the REST API.

    /api/rest_v1/page/html/{title}[/{revision}]   ─┐
    /api/rest_v1/page/title/{title}[/{revision}]  ─┼─> /w/rest.php/v1/… ── headers set ──> client
    /core/v1/{project}/{language}/…               ─┘

Where RESTBase was, its paths are now these; what comes back is the REST API's, errors with RESTBase's members. A title
beside a revision is ignored. Places that the answers name are those behind the gateway, as in production.
"""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

from mockapi.api.endpoint import Context, Endpoint
from mockapi.api.rest.path import REST_ROOT
from mockapi.api.rest.routes import find
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Headers, Reply
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World

RESTBASE_PATH: Final = re.compile(r"/api/rest_v1/page/(html|title)/([^/]+)(?:/([^/]+))?")
_PORTAL: Final = re.compile(r"/core/v1/([a-z]+)/([a-z0-9-]+)(/.*)")
_FORMS: Final = {"html": "html", "title": "bare"}
_NO_SOURCES: Final = b"default-src 'none'; frame-ancestors 'none'"
SET_BY_GATEWAY: Final[Headers] = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET,HEAD"),
    (
        b"access-control-allow-headers",
        b"accept, content-type, content-length, cache-control, accept-language, api-user-agent, if-match, "
        b"if-modified-since, if-none-match, dnt, accept-encoding",
    ),
    (b"access-control-expose-headers", b"etag"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"origin-when-cross-origin"),
    (b"x-xss-protection", b"1; mode=block"),
    (b"content-security-policy", _NO_SOURCES),
    (b"x-content-security-policy", _NO_SOURCES),
    (b"x-webkit-csp", _NO_SOURCES),
)
_VIA: Final[Headers] = ((b"via", b"rest-gateway"),)


@dataclass(frozen=True, slots=True)
class Gateway:
    """A request that the gateway passes on: `behind` is what the wiki gets, `added` what the client gets besides.

    Targets, key and renders are those of the wiki: draws are the same with and without the gateway.
    """

    behind: Request
    endpoint: Endpoint
    added: Headers
    targets: tuple[Target, ...]
    key: str
    renders: bool

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for a path that the gateway leaves as it is."""
        if match := RESTBASE_PATH.fullmatch(request.raw_path):
            kind, title, revision = match.groups()
            form = _FORMS[kind]
            path = f"/v1/page/{title}/{form}" if revision is None else f"/v1/revision/{revision}/{form}"
            behind = _rewritten(request, path, {**request.headers, "x-restbase-compat": "true"})
            return cls._pass_on(behind, world, SET_BY_GATEWAY + _VIA)
        if match := _PORTAL.fullmatch(request.raw_path):
            project, language, below = match.groups()
            headers = {name: value for name, value in request.headers.items() if name != "cookie"}
            behind = _rewritten(request, f"/v1{below}", {**headers, "host": f"{language}.{project}.org"})
            return cls._pass_on(behind, world, _VIA)
        return None

    @classmethod
    def _pass_on(cls, behind: Request, world: "World", added: Headers) -> Self:
        endpoint = find(behind, world)
        return cls(behind, endpoint, added, endpoint.targets, endpoint.key, endpoint.renders)

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """As the wiki or a proxy says it, through the gateway."""
        return self._through(self.endpoint.status_reply(status, request_id))

    async def reply(self, context: Context) -> Reply:
        """The wiki's answer, through the gateway."""
        behind = replace(self.behind, body=context.request.body)
        return self._through(await self.endpoint.reply(replace(context, request=behind)))

    def _through(self, reply: Reply) -> Reply:
        names = {name for name, _ in self.added}
        return replace(reply, headers=(*(header for header in reply.headers if header[0] not in names), *self.added))


def _rewritten(request: Request, below: str, headers: dict[str, str]) -> Request:
    return replace(request, path=REST_ROOT + below, raw_path=REST_ROOT + below, headers=headers)
