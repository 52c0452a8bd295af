"""Plays a request from its first byte to its journal entry.

    request ── route, rules, attempt ──> plan ── answer (a status of the plan, else the endpoint's own) ── delivery

Raw ASGI, since headers must go out in MediaWiki's order and pages by the thousand a second. A rule applies to any path,
also to one without a route; a status therefore comes first, as from a proxy in front.
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from starlette.types import Receive, Scope, Send

from mockapi.api.endpoint import Context, Endpoint
from mockapi.api.routes import find
from mockapi.faults.body import changes_body
from mockapi.faults.hang import FAULT as HANG
from mockapi.journal.entry import Asked, Result
from mockapi.plan import NOTHING, Plan, StatusAnswer
from mockapi.rules.matching import Subject
from mockapi.rules.planning import plan_for
from mockapi.rules.target import Target
from mockapi.server.answer import answer
from mockapi.server.delivery import AS_IT_IS, Effect
from mockapi.server.effects import effects
from mockapi.server.hang import hang
from mockapi.server.message import HttpMessage, as_it_is, message
from mockapi.server.reply import Reply
from mockapi.server.request import BodyTooLarge, has_body, read_body, read_head
from mockapi.server.send import NOTHING_SENT, Sent, send_message
from mockapi.server.timeout import GivenUp, while_awaited
from mockapi.server.unsupported import UNABLE, needs_wire
from mockapi.server.wire import wire_of
from mockapi.world import World, Worlds


class Exchange:
    """The ASGI application for all paths of the wikis."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request: plan, answer, delivery, entry of the journal, all in the world in which it began."""
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
        plan = _plan(world, subject, peek=False)
        context = Context(world, request, request_id, plan, partial(_plan_of, world, subject))
        number = world.journal.begin(_asked(subject, request_id, plan), at_s, subject)
        leaving, sent = None, NOTHING_SENT
        changed_by: tuple[str, ...] = ()
        wire = wire_of(scope)
        held_back = receive if wire is None else wire.until_half_closed(receive)
        try:
            place = None
            if wire is not None:
                world.upstream.places.came(wire.connection)
                if plan.connections is not None:
                    place = world.upstream.places.take(*plan.connections, wire.connection)
                    if place is None:
                        wire.reset()
                        return
            if plan.delivery.hang is not None and wire is not None:
                await hang(wire, partial(self._hangs, world, plan.delivery.hang))
                return
            reply = await answer(
                plan,
                partial(_reply, endpoint, context, too_large=too_large),
                renders=endpoint.renders and plan.status is None,
                client=request.client,
                upstream=world.upstream,
                place=place,
                receive=held_back,
                request_id=request_id,
            )
            if reply is None:
                return
            delivery, head_only = plan.delivery, request.method == "HEAD"
            on_connection = 1 if wire is None else wire.number
            if delivery is AS_IT_IS:
                leaving = as_it_is(reply, head_only=head_only)
            else:
                # To know how long a body is, all of it may have to be made, which takes seconds for a large one.
                made = await while_awaited(
                    message(reply, delivery, head_only=head_only, number=on_connection), held_back, within=None
                )
                if isinstance(made, GivenUp):
                    return
                leaving = made
                if wire is None and needs_wire(leaving, delivery):
                    leaving, delivery = UNABLE, AS_IT_IS
            watched = receive if delivery is AS_IT_IS else held_back
            sent = await send_message(leaving, delivery, wire=wire, receive=watched, send=send)
            if plan.body is not None or delivery is not AS_IT_IS:
                changed_by = effects(delivery, reply, leaving, sent, number=on_connection)
                if plan.body is not None and changes_body(plan.body, reply, request.accepts, renders=endpoint.renders):
                    changed_by = (*changed_by, Effect.BODY)
        finally:
            world.journal.finish(number, Result() if leaving is None else _result(leaving, sent, changed_by))

    def _hangs(self, world: World, rule: str) -> bool:
        """Whether a rule that held a request still does. One that has fired as often as it may goes on holding it."""
        return self._worlds.current is world and any(
            status.rule.name == rule and status.rule.do.has(HANG) and status.phase in {"effective", "spent"}
            for status in world.rulebook.statuses()
        )


def _plan(world: World, subject: Subject, *, peek: bool) -> Plan:
    rules = world.rulebook.peek(subject) if peek else world.rulebook.match(subject)
    if not rules:
        return NOTHING
    plan = plan_for(
        rules,
        seed=world.seed,
        key=subject.draw_key,
        attempt=subject.attempt,
        age_s=partial(world.rulebook.age_s, at_s=subject.at_s),
    )
    return plan if plan.state.unknown_for is None else _with_lag(plan, plan.state.unknown_for, subject, world)


def _with_lag(plan: Plan, unknown_for: tuple[str, timedelta], subject: Subject, world: World) -> Plan:
    rule, lag = unknown_for
    target = subject.targets[0]
    behind = world.upstream.replicas.behind((rule, target.wiki, target.revision), lag.total_seconds(), subject.at_s)
    return replace(plan, state=replace(plan.state, missing=True)) if behind else plan


def _plan_of(world: World, subject: Subject, target: Target) -> Plan:
    key = subject.key if target.revision is None else str(target.revision)
    return _plan(world, replace(subject, targets=(target,), key=key), peek=True)


async def _reply(endpoint: Endpoint, context: Context, *, too_large: bool) -> Reply:
    if context.plan.status is not None:
        return endpoint.status_reply(context.plan.status, context.request_id)
    if too_large:
        return endpoint.status_reply(StatusAnswer(code=413), context.request_id)
    return await endpoint.reply(context)


def _asked(subject: Subject, request_id: str, plan: Plan) -> Asked:
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


def _result(message: HttpMessage, sent: Sent, changed_by: tuple[str, ...]) -> Result:
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
