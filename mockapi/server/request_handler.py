"""Handles a request from its first byte to its journal entry.

    request ── route, rules, attempt ──> plan ── answer (a status of the plan, else the endpoint's own) ── delivery

Raw ASGI, since headers must go out in MediaWiki's order and pages by the thousand a second. A rule applies to any path,
also to one without a route; a status therefore comes first, as from a proxy in front.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from starlette.types import Receive, Scope, Send

from mockapi.api.endpoint import Context, Endpoint
from mockapi.api.routes import find
from mockapi.faults.body import changes_body
from mockapi.faults.hang import FAULT as HANG
from mockapi.journal.entry import Asked, Result
from mockapi.plan import Plan, StatusAnswer
from mockapi.rules.book import plan_for
from mockapi.rules.matching import Subject, Target
from mockapi.rules.model import Rule
from mockapi.server.answer import answer
from mockapi.server.delivery import AS_IT_IS, Effect
from mockapi.server.disconnect_watch import GivenUp, await_answer
from mockapi.server.message import UNABLE, HttpMessage, as_it_is, message, needs_wire
from mockapi.server.reply import Reply
from mockapi.server.request import BodyTooLarge, has_body, read_body, read_head
from mockapi.server.send import Sent, effects, send_message
from mockapi.server.wire import Wire, wire_of
from mockapi.world import World, Worlds

_FIRST_WAIT_S: Final = 0.02
_LONGEST_WAIT_S: Final = 1.0


class RequestHandler:
    """The ASGI application for all paths of the wikis."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Plans, answers and journals one request, all in the world in which it began."""
        world = self._worlds.current
        request = read_head(scope)
        at_s = world.clock.arrive()
        too_large = False
        if has_body(request):
            try:
                body = await read_body(receive)
            except BodyTooLarge:
                body, too_large = b"", True
            if body is None:
                return
            request = replace(request, body=body)
        endpoint = find(request, world)
        request_id = request.request_id or world.request_id()
        wiki = world.separate_wiki(endpoint.targets[0])
        attempt = world.attempts.next((wiki, request.request_id or (request.client, endpoint.key)))
        subject = Subject(request, endpoint.targets, endpoint.key, attempt, at_s, wiki)
        plan = _make_plan(world, subject, world.rulebook.match(subject))
        if too_large and plan.status is None:
            plan = replace(plan, status=StatusAnswer(code=413))
        context = Context(world, request, request_id, plan, partial(_plan_of, world, subject))
        number = world.journal.begin(_journal_request(subject, request_id, plan), at_s, subject)
        result = Result()
        try:
            result = await self._respond(endpoint, context, wire_of(scope), receive, send)
        finally:
            world.journal.finish(number, result)

    async def _respond(
        self, endpoint: Endpoint, context: Context, wire: Wire | None, receive: Receive, send: Send
    ) -> Result:
        """Waits for a place, the parser and the faults of the plan, and sends the answer if the client still waits."""
        world, plan = context.world, context.plan
        held_back = receive if wire is None else wire.until_half_closed(receive)
        place = None
        if wire is not None:
            world.upstream.places.note_request(wire.connection)
            if plan.connections is not None:
                place = world.upstream.places.take(*plan.connections, wire.connection)
                if place is None:
                    wire.reset()
                    return Result()
            if plan.delivery.hang is not None:
                await _hang(wire, partial(self._hangs, world, plan.delivery.hang))
                return Result()
        reply = await answer(
            plan,
            partial(_make_reply, endpoint, context),
            renders=endpoint.renders and plan.status is None,
            client=context.request.client,
            upstream=world.upstream,
            place=place,
            receive=held_back,
            request_id=context.request_id,
        )
        if reply is None:
            return Result()
        delivery, number = plan.delivery, 1 if wire is None else wire.number
        head_only = context.request.method == "HEAD"
        if delivery is AS_IT_IS:
            response = as_it_is(reply, head_only=head_only)
        else:
            # To know how long a body is, all of it may have to be made, which takes seconds for a large one.
            made = await await_answer(
                message(reply, delivery, head_only=head_only, number=number), held_back, within=None
            )
            if isinstance(made, GivenUp):
                return Result()
            response = made
            if wire is None and needs_wire(response, delivery):
                response, delivery = UNABLE, AS_IT_IS
        watched = receive if delivery is AS_IT_IS else held_back
        sent = await send_message(response, delivery, wire=wire, receive=watched, send=send)
        changed_by: tuple[str, ...] = ()
        if delivery is not AS_IT_IS:
            changed_by = effects(delivery, reply, response, sent, number=number)
        accepts, renders = context.request.accepts, endpoint.renders
        if plan.body is not None and changes_body(plan.body, reply, accepts, renders=renders):
            changed_by = (*changed_by, Effect.BODY)
        if reply.by_rule:
            changed_by = (*changed_by, Effect.ERROR)
        return _make_result(response, sent, changed_by)

    def _hangs(self, world: World, rule: str) -> bool:
        """Whether a rule that held a request still does. One that has fired as often as it may goes on holding it."""
        return self._worlds.current is world and any(
            status.rule.name == rule and status.rule.do.has(HANG) and status.phase in {"effective", "spent"}
            for status in world.rulebook.statuses()
        )


async def _hang(wire: Wire, holds: Callable[[], bool]) -> None:
    """Neither reads nor writes until the client has disconnected or `holds` is false; then closes the connection.

    Both are polled, less and less often: without reading, nothing shows that the client has disconnected.
    """
    wire.stop_reading()
    wait_s = _FIRST_WAIT_S
    while holds() and not wire.left:
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 1.5, _LONGEST_WAIT_S)
    wire.finish()


def _make_plan(world: World, subject: Subject, rules: Sequence[Rule]) -> Plan:
    plan = plan_for(
        rules,
        seed=world.seed,
        key=subject.draw_key,
        attempt=subject.attempt,
        age_s=partial(world.rulebook.age_s, at_s=subject.at_s),
    )
    if plan.state.unknown_for is None:
        return plan
    rule, lag = plan.state.unknown_for
    target = subject.targets[0]
    behind = world.upstream.replicas.behind((rule, target.wiki, target.revision), lag.total_seconds(), subject.at_s)
    return replace(plan, state=replace(plan.state, missing=True)) if behind else plan


def _plan_of(world: World, subject: Subject, target: Target) -> Plan:
    key = subject.key if target.revision is None else str(target.revision)
    subject = replace(subject, targets=(target,), key=key)
    return _make_plan(world, subject, world.rulebook.peek(subject))


async def _make_reply(endpoint: Endpoint, context: Context) -> Reply:
    if (status := context.plan.status) is not None:
        headers = tuple((name.lower().encode(), value.encode()) for name, value in status.headers)
        return endpoint.status_reply(status, context.request_id).with_headers(headers)
    return await endpoint.reply(context)


def _journal_request(subject: Subject, request_id: str, plan: Plan) -> Asked:
    first = subject.targets[0]
    return Asked(
        method=subject.request.method,
        path=subject.request.path,
        query=subject.request.query,
        host=subject.request.host,
        client=subject.request.client,
        wiki=first.wiki,
        page=first.page,
        revision=first.revision,
        revisions=tuple(target.revision for target in subject.targets if target.revision is not None),
        key=subject.key,
        request_id=request_id,
        attempt=subject.attempt,
        rules=plan.rules,
        draws=plan.draws,
    )


def _make_result(message: HttpMessage, sent: Sent, changed_by: tuple[str, ...]) -> Result:
    length = coding = None
    for name, value in () if sent.reply is None else sent.reply.headers:
        if name == b"content-length":
            length = int(value)
        elif name == b"content-encoding":
            coding = value.decode("latin-1")
    return Result(
        status=None if sent.reply is None else sent.reply.status,
        content_length=length,
        content_encoding=coding,
        wire_bytes=sent.wire_bytes,
        real_bytes=0 if message.head_only else message.reply.real_bytes,
        completed=sent.completed,
        changed_by=changed_by,
    )
