"""Everything that is not the control: plays a request from its first byte to its journal entry.

    route ── rules, attempt ──> plan ── answer (a status of the plan, else the route's own) ── send ──> journal

Raw ASGI, since headers must go out in MediaWiki's order and pages by the thousand a second. A rule applies to any path,
also to one without a route; a status therefore comes first, as from a proxy in front.
"""

from dataclasses import replace
from functools import partial

from starlette.types import Receive, Scope, Send

from mockapi.entry import Asked, Result
from mockapi.faults import plan_for, status
from mockapi.faults.plan import Plan
from mockapi.reply import Reply, send_reply
from mockapi.rest_errors import ALLOWED_METHODS, method_not_allowed, no_match
from mockapi.routes.answer import answer
from mockapi.routes.request import Request, read_request
from mockapi.routes.revision_html import RevisionHtml
from mockapi.rules.matching import Subject, matching
from mockapi.world import World, Worlds


class RestApi:
    """The ASGI application for all paths of the wiki."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        world = self._worlds.current
        request = read_request(scope)
        request_id = request.request_id or world.request_id()
        at_s = world.clock.arrive()
        route = _route(request, world)
        subject = route.subject(request.method, request.path, at_s) if route else _elsewhere(request, world, at_s)
        attempt = world.attempts.next(request.request_id or (request.client, request.path))
        key = request.path if subject.revision is None else str(subject.revision)
        rules = matching(world.rules, subject, seed=world.seed)
        plan = plan_for(rules, seed=world.seed, key=key, attempt=attempt)
        number = world.journal.begin(_asked(request, subject, request_id, attempt, plan), at_s)
        result = Result()
        try:
            reply = await answer(
                plan,
                partial(_reply, request, route, world, plan, request_id),
                renders=_renders(request, route, plan),
                parser=world.parser,
                receive=receive,
                request_id=request_id,
            )
            if reply is None:
                return
            head_only = request.method == "HEAD"
            result = _result(reply, head_only=head_only)
            sent = await send_reply(reply, head_only=head_only, receive=receive, send=send)
            result = replace(result, wire_bytes=sent.wire_bytes, completed=sent.completed)
        finally:
            world.journal.finish(number, result)


def _route(request: Request, world: World) -> RevisionHtml | None:
    return None if request.relative is None else RevisionHtml.of(request.relative, request.host, world)


def _elsewhere(request: Request, world: World, at_s: float) -> Subject:
    return Subject(request.method, request.path, world.titles.wiki_of_host(request.host), None, None, at_s=at_s)


def _renders(request: Request, route: RevisionHtml | None, plan: Plan) -> bool:
    """Whether a page is rendered; HEAD renders as GET does."""
    return plan.status is None and route is not None and route.renders and request.method in ALLOWED_METHODS


async def _reply(request: Request, route: RevisionHtml | None, world: World, plan: Plan, request_id: str) -> Reply:
    if plan.status is not None:
        return status.reply(plan.status, revision=route.text if route else "", request_id=request_id)
    if route is None:
        return no_match(request.path if request.relative is None else request.relative, request_id)
    if request.method not in ALLOWED_METHODS:
        return method_not_allowed(request.method, request_id)
    return await route.reply(
        world, plan, accepts_gzip=request.accepts_gzip, language=request.language, request_id=request_id
    )


def _asked(request: Request, subject: Subject, request_id: str, attempt: int, plan: Plan) -> Asked:
    return Asked(
        method=request.method,
        path=request.path,
        host=request.host,
        wiki=subject.wiki,
        page=subject.page,
        revision=subject.revision,
        request_id=request_id,
        attempt=attempt,
        rules=plan.rules,
        draws=plan.draws,
    )


def _result(reply: Reply, *, head_only: bool) -> Result:
    length = reply.header(b"content-length")
    return Result(
        status=reply.status,
        content_length=None if length is None else int(length),
        content_encoding=reply.header(b"content-encoding"),
        real_bytes=0 if head_only else reply.real_bytes,
    )
